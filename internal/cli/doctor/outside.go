package doctor

import (
	"fmt"
	"net"
	"net/url"

	"github.com/hone-dev/hone/pkg/model"
)

// hostName is the name that containers have for the machine that they run on, where there is one.
const hostName = "host.docker.internal"

// engineSocket is the usual place of an engine's socket, also of one that is mounted.
const engineSocket = "/var/run/docker.sock"

// Surroundings is a machine as Outside sees it. All functions must be set.
type Surroundings struct {
	Env func(name string) string
	// Exists reports whether a path exists, and Resolves whether a host name has an address.
	Exists   func(path string) bool
	Resolves func(host string) bool
}

// container names the kind of container that hone runs in; empty if it runs in none.
func (s Surroundings) container() string {
	switch {
	case s.Env("CODESPACES") == "true":
		return "a codespace"
	case s.Env("REMOTE_CONTAINERS") == "true":
		return "a dev container"
	case s.Exists("/.dockerenv") || s.Exists("/run/.containerenv"):
		return "a container"
	}
	return ""
}

// Outside returns the section about the engine and the cluster outside of the container that hone runs in; nil if it runs in none. known is
// the cluster according to the kubeconfig. engine and cluster report whether they have answered.
func Outside(around Surroundings, known model.Cluster, engine, cluster bool) *Section {
	kind := around.container()
	if kind == "" {
		return nil
	}
	s := section("Container")
	s.explains = true
	s.found("hone runs in", "%s", kind)
	s.engineOutside(around, engine)
	if known.Context != "" {
		s.clusterOutside(around, known, cluster)
	}
	return s
}

func (s *Section) engineOutside(around Surroundings, answers bool) {
	const name = "engine outside"
	switch {
	case answers:
		s.found(name, "it answers")
	case around.Env("DOCKER_HOST") != "":
		s.fault(name, fmt.Errorf("DOCKER_HOST is %s, where none answers from in here", around.Env("DOCKER_HOST")), "an address that the machine has for itself is another one in here: mount the socket, or name the machine "+hostName)
	case around.Exists(engineSocket):
		s.fault(name, fmt.Errorf("%s is here, and no engine answers there", engineSocket), "let this user write to it: ls -l "+engineSocket+" shows its group, and id the groups of the user")
	default:
		s.fault(name, fmt.Errorf("no socket of an engine is mounted"), `mount it, in devcontainer.json: "mounts": ["source=`+engineSocket+`,target=`+engineSocket+
			`,type=bind"], or add the feature docker-outside-of-docker`)
	}
}

func (s *Section) clusterOutside(around Surroundings, known model.Cluster, answers bool) {
	const name = "cluster outside"
	u, err := url.Parse(known.Server)
	switch {
	case answers:
		s.found(name, "it answers")
		return
	case err != nil:
		return // which the section about the cluster says
	}
	share := `to share the machine's network, in devcontainer.json: "runArgs": ["--network=host"]`
	switch host := u.Hostname(); {
	case own(host) && around.Resolves(hostName):
		u.Host = net.JoinHostPort(hostName, u.Port())
		s.fault(name, fmt.Errorf("%s is this container itself, not the machine that it runs on", known.Server),
			fmt.Sprintf("kubectl config set-cluster \"$(kubectl config view --minify -o jsonpath='{.clusters[0].name}')\" --server=%s --tls-server-name=localhost\nor, %s", u, share))
	case own(host):
		s.fault(name, fmt.Errorf("%s is this container itself, not the machine that it runs on", known.Server), share)
	case host == hostName && !around.Resolves(host):
		s.fault(name, fmt.Errorf("%s is not known in here", hostName), `in devcontainer.json: "runArgs": ["--add-host=`+hostName+`:host-gateway"]`)
	case net.ParseIP(host) == nil && !around.Resolves(host):
		s.fault(name, fmt.Errorf("%s is not known in here", host), share)
	default:
		s.fault(name, fmt.Errorf("%s does not answer in here", known.Server), "see whether the machine that the container runs on reaches it; if so, "+share)
	}
}

// own reports whether a host in an address is the one that asks.
func own(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip.IsLoopback() || ip.IsUnspecified()
}
