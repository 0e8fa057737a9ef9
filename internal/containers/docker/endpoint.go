package docker

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Endpoint is the address of an engine and the settings of the connection.
type Endpoint struct {
	// Host is the address: unix://…, tcp://…, ssh://… or npipe://….
	Host string
	// CertDir holds ca.pem, cert.pem and key.pem; empty for a connection without TLS.
	CertDir string
	// SkipVerify accepts any certificate of the engine.
	SkipVerify bool
	// Context is the docker context that the endpoint comes from; empty for none.
	Context string
	// Fault is the reason why the engine cannot be used with these settings; nil if no such reason is known.
	Fault error
	// Explicit is set if a docker CLI does not use this engine by default.
	Explicit bool
}

// Find returns the engine that a docker CLI would use: DOCKER_HOST, then DOCKER_CONTEXT, then the current context of the
// user's configuration, then the default socket.
func Find() (Endpoint, error) {
	return findEndpoint(os.Getenv, ConfigDir())
}

// ConfigDir returns the folder of the docker CLI's configuration.
func ConfigDir() string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ".docker"
	}
	return filepath.Join(home, ".docker")
}

func findEndpoint(getenv func(string) string, dir string) (Endpoint, error) {
	if host := getenv("DOCKER_HOST"); host != "" {
		ep := Endpoint{Host: host, SkipVerify: getenv("DOCKER_TLS_VERIFY") == "", Fault: certFault(getenv)}
		if certs := getenv("DOCKER_CERT_PATH"); certs != "" {
			ep.CertDir = certs
		} else if !ep.SkipVerify {
			ep.CertDir = dir
		}
		return ep, nil
	}
	name := getenv("DOCKER_CONTEXT")
	if name == "" {
		name = currentContext(dir)
	}
	if name == "" || name == "default" {
		return Endpoint{Host: client.DefaultDockerHost, Fault: certFault(getenv)}, nil
	}
	return contextEndpoint(dir, name)
}

// certFault returns a problem if the certificate folder that the environment names does not exist. Without this check
// the certificates would be ignored, and the error would seem to come from the engine or its default socket.
func certFault(getenv func(string) string) error {
	dir := getenv("DOCKER_CERT_PATH")
	if info, err := os.Stat(dir); dir == "" || err == nil && info.IsDir() {
		return nil
	}
	return problem.New("DOCKER_CERT_PATH is "+dir+", a folder that does not exist",
		"set it to the folder with ca.pem, cert.pem and key.pem, or unset it")
}

// currentContext returns the context that the user selected, if any. It ignores a configuration that cannot be read, as
// the docker CLI does after a warning.
func currentContext(dir string) string {
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil || json.Unmarshal(data, &config) != nil {
		return ""
	}
	return config.CurrentContext
}

// contextEndpoint reads a docker context from the user's store.
func contextEndpoint(dir, name string) (Endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "contexts", "meta", id, "meta.json"))
	if err == nil {
		err = json.Unmarshal(data, &meta)
	}
	if errors.Is(err, os.ErrNotExist) {
		return Endpoint{}, problem.New(fmt.Sprintf("docker context %q does not exist", name),
			"choose one that does: docker context ls, then docker context use NAME")
	}
	if err != nil {
		return Endpoint{}, fmt.Errorf("read docker context %q: %w", name, err)
	}
	ep := Endpoint{Host: meta.Endpoints["docker"].Host, SkipVerify: meta.Endpoints["docker"].SkipTLSVerify, Context: name}
	if ep.Host == "" {
		ep.Host = client.DefaultDockerHost
	}
	if certs := filepath.Join(dir, "contexts", "tls", id, "docker"); exists(certs) {
		ep.CertDir = certs
	}
	return ep, nil
}

// tls returns the TLS settings, nil for none.
func (ep Endpoint) tls() (*tls.Config, error) {
	if ep.CertDir == "" || ep.Fault != nil {
		return nil, nil //nolint:nilerr // connecting reports the fault
	}
	file := func(name string) string {
		if path := filepath.Join(ep.CertDir, name); exists(path) {
			return path
		}
		return ""
	}
	config, err := tlsconfig.Client(tlsconfig.Options{
		CAFile: file("ca.pem"), CertFile: file("cert.pem"), KeyFile: file("key.pem"),
		InsecureSkipVerify: ep.SkipVerify, ExclusiveRootPools: true,
	})
	if err != nil {
		return nil, fmt.Errorf("read the certificates in %s: %w", ep.CertDir, err)
	}
	return config, nil
}

// env returns the variables that make a docker CLI use the endpoint.
func (ep Endpoint) env() []string {
	if !ep.Explicit {
		return nil
	}
	env := []string{"DOCKER_HOST=" + ep.Host}
	if ep.CertDir == "" {
		return env
	}
	env = append(env, "DOCKER_CERT_PATH="+ep.CertDir)
	if !ep.SkipVerify {
		env = append(env, "DOCKER_TLS_VERIFY=1")
	}
	return env
}
