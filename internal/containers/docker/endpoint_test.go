package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// writeDockerContext writes a docker context to a configuration folder.
func writeDockerContext(t *testing.T, dir, name, meta string, tls bool) string {
	t.Helper()
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	metaDir, tlsDir := filepath.Join(dir, "contexts", "meta", id), filepath.Join(dir, "contexts", "tls", id, "docker")
	if err := os.MkdirAll(metaDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(metaDir, "meta.json"), []byte(meta), 0o644); err != nil {
		t.Fatal(err)
	}
	if tls {
		if err := os.MkdirAll(tlsDir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return tlsDir
}

func TestFindEndpoint(t *testing.T) {
	dir := t.TempDir()
	certs := writeDockerContext(t, dir, "lab", `{"Name":"lab","Endpoints":{"docker":{"Host":"tcp://lab:2376","SkipTLSVerify":false}}}`, true)
	writeDockerContext(t, dir, "desktop", `{"Name":"desktop","Endpoints":{"docker":{"Host":"unix:///home/me/docker.sock"}}}`, false)
	writeDockerContext(t, dir, "broken", `{`, false)
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"currentContext":"desktop"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	plain := t.TempDir()
	tests := []struct {
		name string
		dir  string
		env  map[string]string
		want Endpoint
		env2 []string
	}{
		{"default", plain, nil, Endpoint{Host: client.DefaultDockerHost}, nil},
		{"current context", dir, nil, Endpoint{Host: "unix:///home/me/docker.sock", Context: "desktop"}, nil},
		{"DOCKER_CONTEXT", dir, map[string]string{"DOCKER_CONTEXT": "lab"}, Endpoint{Host: "tcp://lab:2376", CertDir: certs, Context: "lab"}, nil},
		{"default context", dir, map[string]string{"DOCKER_CONTEXT": "default"}, Endpoint{Host: client.DefaultDockerHost}, nil},
		{"DOCKER_HOST", dir, map[string]string{"DOCKER_HOST": "tcp://h:1"}, Endpoint{Host: "tcp://h:1", SkipVerify: true}, nil},
		{"DOCKER_HOST with TLS", dir, map[string]string{"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": certs},
			Endpoint{Host: "tcp://h:1", CertDir: certs}, nil},
		{"DOCKER_HOST with TLS in the usual place", dir, map[string]string{"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1"},
			Endpoint{Host: "tcp://h:1", CertDir: dir}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := findEndpoint(func(k string) string { return tt.env[k] }, tt.dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if env := got.env(); env != nil {
				t.Errorf("a docker CLI would find it, but gets %v", env)
			}
		})
	}
	for _, name := range []string{"none", "broken"} {
		_, err := findEndpoint(func(k string) string { return map[string]string{"DOCKER_CONTEXT": name}[k] }, dir)
		if err == nil {
			t.Errorf("found the context %s", name)
		}
		if _, ok := problem.Of(err); name == "none" && !ok {
			t.Errorf("got %v", err)
		}
	}
}

// TestCertPath sets a certificate folder that does not exist: each use of the engine reports it, with and without an
// address of the engine. A docker context has its own certificates.
func TestCertPath(t *testing.T) {
	dir := t.TempDir()
	writeDockerContext(t, dir, "desktop", `{"Name":"desktop","Endpoints":{"docker":{"Host":"unix:///home/me/docker.sock"}}}`, false)
	gone := filepath.Join(dir, "gone")
	for name, env := range map[string]map[string]string{
		"alone":           {"DOCKER_CERT_PATH": gone},
		"with a host":     {"DOCKER_CERT_PATH": gone, "DOCKER_HOST": "tcp://127.0.0.1:1"},
		"with TLS":        {"DOCKER_CERT_PATH": gone, "DOCKER_HOST": "tcp://127.0.0.1:1", "DOCKER_TLS_VERIFY": "1"},
		"not a folder":    {"DOCKER_CERT_PATH": filepath.Join(dir, "file"), "DOCKER_HOST": "tcp://127.0.0.1:1"},
		"default context": {"DOCKER_CERT_PATH": gone, "DOCKER_CONTEXT": "default"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			ep, err := findEndpoint(func(k string) string { return env[k] }, dir)
			if err != nil {
				t.Fatal(err)
			}
			e, err := New(ep)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			_, err = e.Ping(t.Context())
			p, ok := problem.Of(err)
			if !ok || p.Summary != "DOCKER_CERT_PATH is "+env["DOCKER_CERT_PATH"]+", a folder that does not exist" || p.Mend == "" || !IsUnreachable(err) {
				t.Errorf("got %v", err)
			}
		})
	}
	ep, err := findEndpoint(func(k string) string {
		return map[string]string{"DOCKER_CERT_PATH": gone, "DOCKER_CONTEXT": "desktop"}[k]
	}, dir)
	if err != nil || ep.Fault != nil {
		t.Errorf("a context does not need it: %v, %v", ep.Fault, err)
	}
}

func TestMinikubeEnv(t *testing.T) {
	env := parseEnv([]byte("export DOCKER_TLS_VERIFY=\"1\"\nDOCKER_HOST=tcp://192.168.49.2:2376\n# To point your shell …\nnothing\n"))
	want := map[string]string{"DOCKER_TLS_VERIFY": "1", "DOCKER_HOST": "tcp://192.168.49.2:2376"}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ep := Endpoint{Host: "tcp://1.2.3.4:2376", CertDir: "/certs", Explicit: true}
	if got := ep.env(); !slices.Equal(got, []string{"DOCKER_HOST=tcp://1.2.3.4:2376", "DOCKER_CERT_PATH=/certs", "DOCKER_TLS_VERIFY=1"}) {
		t.Errorf("env %v", got)
	}
}

// TestFindForMinikube replaces the minikube command with a script.
func TestFindForMinikube(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	t.Setenv("MINIKUBE_HOME", home)
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("DOCKER_CONTEXT", "default")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for profile, config := range map[string]string{
		"minikube": `{"KubernetesConfig":{"ContainerRuntime":"docker"}}`, "old": `{}`, "other": `{"KubernetesConfig":{"ContainerRuntime":"containerd"}}`,
	} {
		dir := filepath.Join(home, ".minikube", "profiles", profile)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\n[ \"$2\" = broken ] && { echo no such profile >&2; exit 1; }\n[ \"$2\" = hangs ] && { echo logging in >&2; sleep 1000; }\necho \"DOCKER_HOST=tcp://$2:2376\"\n"
	if err := os.WriteFile(filepath.Join(bin, "minikube"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cluster model.Cluster
		want    string
	}{
		{model.Cluster{Product: model.ProductMinikube, Name: "minikube"}, "tcp://minikube:2376"},
		{model.Cluster{Product: model.ProductMinikube, Context: "old"}, "tcp://old:2376"},
		{model.Cluster{Product: model.ProductMinikube, Name: "any", Runtime: "docker"}, "tcp://any:2376"},
		{model.Cluster{Product: model.ProductMinikube, Name: "other"}, client.DefaultDockerHost},
		{model.Cluster{Product: model.ProductMinikube, Name: "minikube", Runtime: "containerd"}, client.DefaultDockerHost},
		{model.Cluster{Product: model.ProductKIND, Name: "minikube"}, client.DefaultDockerHost},
	} {
		if ep, err := FindFor(t.Context(), tt.cluster); err != nil || ep.Host != tt.want {
			t.Errorf("%+v: %q, %v; want %q", tt.cluster, ep.Host, err, tt.want)
		}
	}
	_, err := FindFor(t.Context(), model.Cluster{Product: model.ProductMinikube, Name: "broken", Runtime: "docker"})
	if p, ok := problem.Of(err); !ok || p.Detail != "no such profile" {
		t.Errorf("got %v", err)
	}
	_, err = minikubeEndpoint(t.Context(), "hangs", 50*time.Millisecond)
	if p, ok := problem.Of(err); !ok || !strings.Contains(problem.Text(err), "it has not answered within 50ms") {
		t.Errorf("a minikube that hangs: %v, %+v", err, p)
	}
}

func TestHosts(t *testing.T) {
	for host, ok := range map[string]bool{"unix:///x.sock": true, "tcp://h:1": true, "ssh://me@h": true, "nonsense": false, "ssh://": false} {
		e, err := New(Endpoint{Host: host})
		if (err == nil) != ok {
			t.Errorf("%s: %v", host, err)
		}
		if err == nil {
			e.Close()
		}
	}
	if _, err := New(Endpoint{Host: "tcp://h:1", CertDir: t.TempDir() + "/none"}); err != nil {
		t.Errorf("certificates are optional: %v", err)
	}
}
