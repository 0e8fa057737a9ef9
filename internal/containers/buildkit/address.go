package buildkit

import (
	"crypto/tls"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/docker/go-connections/tlsconfig"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Address is where a daemon listens, and how to reach it.
type Address struct {
	// Name is the builder's name; empty for one that the user gave by address.
	Name string
	// URL is unix:///PATH, tcp://HOST:PORT, ssh://USER@HOST[:PORT][/PATH], or docker-container://NAME.
	URL string
	// Endpoint is the engine that runs the container: a docker context or an address; empty for the one that is used otherwise.
	Endpoint string
	// CA, Cert and Key are files in the form of PEM, and ServerName is the name in the daemon's certificate, if it is not the host. Any of
	// them makes the connection one with TLS. They are for tcp only.
	CA, Cert, Key string
	ServerName    string
}

// String names the builder for people.
func (a Address) String() string {
	if a.Name == "" {
		return a.URL
	}
	return a.Name + " (" + a.URL + ")"
}

// container is the kind of the address of a daemon in a container, and inCluster of one in a cluster: kubernetes://NAMESPACE, or
// kubernetes://NAMESPACE/NAME for one of several.
const (
	container = "docker-container"
	inCluster = model.BuilderInCluster
)

// schemes are the kinds of addresses.
var schemes = []string{"unix", "tcp", "ssh", container}

// ParseAddress parses an address. The files and the name for TLS may follow as parameters:
// tcp://HOST:PORT?ca=FILE&cert=FILE&key=FILE&servername=NAME.
func ParseAddress(text string) (Address, error) {
	bad := func(why string) (Address, error) {
		return Address{}, problem.New(fmt.Sprintf("%q is not the address of a builder: %s", text, why),
			"write unix:///PATH, tcp://HOST:PORT, ssh://USER@HOST or docker-container://NAME").See("builders")
	}
	u, err := url.Parse(text)
	if err != nil {
		return bad(err.Error())
	}
	if !slices.Contains(schemes, u.Scheme) {
		return bad("it begins with none of unix://, tcp://, ssh:// and docker-container://")
	}
	var a Address
	for key, values := range u.Query() {
		to := map[string]*string{"ca": &a.CA, "cert": &a.Cert, "key": &a.Key, "servername": &a.ServerName}[key]
		if to == nil {
			return bad(fmt.Sprintf("it has no parameter %q", key))
		}
		*to = values[0]
	}
	u.RawQuery = ""
	a.URL = u.String()
	switch {
	case u.Scheme != "tcp" && a.secured():
		return bad("only an address with tcp:// has certificates")
	case u.Scheme == "unix" && u.Path == "":
		return bad("it has no path")
	case u.Scheme == "tcp" && u.Port() == "":
		return bad("it has no port")
	case (u.Scheme == "ssh" || u.Scheme == container) && u.Hostname() == "":
		return bad("it has no host")
	}
	return a, nil
}

// secured reports whether the connection uses TLS.
func (a Address) secured() bool {
	return a.CA+a.Cert+a.Key+a.ServerName != ""
}

// tls returns the settings of TLS, nil for none.
func (a Address) tls(host string) (*tls.Config, error) {
	if !a.secured() {
		return nil, nil //nolint:nilnil // none
	}
	config, err := tlsconfig.Client(tlsconfig.Options{CAFile: a.CA, CertFile: a.Cert, KeyFile: a.Key, ExclusiveRootPools: a.CA != ""})
	if err != nil {
		return nil, problem.Wrap(err, "cannot read the certificates for the builder "+a.String(),
			"correct ca, cert and key: they are files in the form of PEM").See("builders")
	}
	config.ServerName = a.ServerName
	if config.ServerName == "" {
		config.ServerName = host
	}
	return config, nil
}

// mend returns advice for a daemon that does not answer.
func (a Address) mend(why string) string {
	mend := "start buildkitd there, or choose another builder: --builder NAME"
	switch {
	case strings.HasPrefix(a.URL, inCluster+"://"):
		namespace, name, several := strings.Cut(strings.TrimPrefix(a.URL, inCluster+"://"), "/")
		label := "app.kubernetes.io/part-of=hone-builders"
		if several {
			label = "app.kubernetes.io/name=" + name
		}
		mend = "look at its pod: kubectl describe pods -n " + namespace + " -l " + label + "; or choose another builder: --builder NAME"
	case strings.Contains(why, "tls:") || strings.Contains(why, "x509:"):
		mend = "check ca, cert, key and servername in the builder's address"
	case a.secured():
		mend = "start buildkitd there with TLS, and check cert and key in the builder's address; or choose another builder: --builder NAME"
	case strings.Contains(why, "permission denied"):
		mend = "let your user use the socket: buildkitd --group GROUP names the group that may"
	case strings.HasPrefix(a.URL, container+"://"):
		mend = "start the container (docker buildx inspect --bootstrap " + a.Name + "), or choose another builder: --builder NAME"
	case strings.HasPrefix(a.URL, "ssh://"):
		mend = "check that " + strings.Join(a.sshCommand(), " ") + " connects without a question, or choose another builder: --builder NAME"
	}
	return mend
}
