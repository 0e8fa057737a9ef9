package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreignKubeconfig returns the kubeconfig of the tests, with its context renamed to "production".
func foreignKubeconfig(t *testing.T) string {
	b, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := regexp.MustCompile(`\bhone-dev\b`).ReplaceAllString(string(b), "production")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadInput gives hone invalid input: each time one message names the error, the place and the fix, the exit code is 1, or 5 for
// an error in the Tiltfile, and no object is created.
func TestBadInput(t *testing.T) {
	busy, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Close() })
	port := fmt.Sprint(busy.Addr().(*net.TCPAddr).Port)
	ofTiltfile := map[string]bool{"YAML error": true, "missing YAML file": true, "Tiltfile error": true}
	for _, tc := range []struct {
		name string
		edit func(p *project)
		args []string
		env  []string
		want []string
	}{
		{"no Tiltfile", nil, []string{"up", "-f", "nowhere/Tiltfile"}, nil, []string{"there is no folder ", "nowhere", "hone up -f PATH"}},
		{"a folder", nil, []string{"up", "-f", "site"}, nil, []string{"is a folder", "site/Tiltfile"}},
		{"unknown context", nil, []string{"up", "--context", "elsewhere"}, nil, []string{`"elsewhere"`, "hone-dev"}},
		{"unreachable cluster", nil, []string{"up"}, []string{"unreachable"}, []string{"127.0.0.1:1", "connection refused"}},
		{"unreachable cluster, ci", nil, []string{"ci"}, []string{"unreachable"}, []string{"127.0.0.1:1", "connection refused"}},
		{"no engine", nil, []string{"up"}, []string{"DOCKER_HOST=unix:///nonexistent.sock"}, []string{"/nonexistent.sock", "engine"}},
		{"no certificates", nil, []string{"ci"}, []string{"DOCKER_CERT_PATH=/nonexistent/certs"}, []string{"DOCKER_CERT_PATH is /nonexistent/certs", "unset it"}},
		{"no certificates for the engine", nil, []string{"ci"}, []string{"DOCKER_CERT_PATH=/nonexistent/certs", "DOCKER_HOST=tcp://127.0.0.1:1"},
			[]string{"DOCKER_CERT_PATH is /nonexistent/certs", "unset it"}},
		{"port in use", nil, []string{"up", "--port", port}, nil, []string{"already have another process on port " + port, "--port=0", "--port=none"}},
		{"port in use, by the environment", nil, []string{"up"}, []string{"TILT_PORT=" + port}, []string{"already have another process on port " + port}},
		{"unknown update mode", nil, []string{"up", "--update-mode", "magic"}, nil, []string{`unknown update mode "magic"`, "auto, image, naive, synclet, container, exec"}},
		{"unknown name", nil, []string{"up", "wbe"}, nil, []string{`"wbe"`, "web"}},
		{"unknown flag", nil, []string{"up", "--nonsense"}, nil, []string{"--nonsense"}},
		{"Dockerfile error", func(p *project) { p.replace("web.Dockerfile", "COPY site /www", "COPPY site /www") }, []string{"ci"}, nil,
			[]string{"web.Dockerfile:2", "COPPY"}},
		{"missing file in COPY", func(p *project) { p.replace("web.Dockerfile", "COPY site /www", "COPY sight /www") }, []string{"ci"}, nil,
			[]string{"web.Dockerfile:2", "sight"}},
		{"failing RUN", func(p *project) { p.replace("web.Dockerfile", "COPY site /www", "RUN echo compiling; exit 3") }, []string{"ci"}, nil,
			[]string{"web.Dockerfile:2", "exit code 3"}},
		{"a name that is not UTF-8", func(p *project) { p.write("site/caf\xe9.html", "x") }, []string{"ci"}, nil,
			[]string{`"site/caf\xe9.html" is not UTF-8`, "rename it"}},
		{"YAML error", func(p *project) { p.replace("web.yaml", "kind: Deployment", "kind: : Deployment") }, []string{"ci"}, nil, []string{"web.yaml", "line 2"}},
		{"missing YAML file", func(p *project) { p.replace("Tiltfile", "web.yaml", "wbe.yaml") }, []string{"ci"}, nil, []string{"Tiltfile:3", "wbe.yaml"}},
		{"unknown kind", func(p *project) { p.replace("web.yaml", "kind: Service", "kind: Servise") }, []string{"ci"}, nil, []string{"Servise"}},
		{"Tiltfile error", func(p *project) { p.replace("Tiltfile", "k8s_yaml(", "k8s_yaml(colour=") }, []string{"ci"}, nil, []string{"Tiltfile:3", "colour"}},
		{"missing namespace", nil, []string{"ci", "--namespace", "hone-test-nowhere"}, nil, []string{"hone-test-nowhere"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, web)
			if tc.edit != nil {
				tc.edit(p)
			}
			args := tc.args
			if !strings.Contains(fmt.Sprint(args), "--namespace") {
				args = append(args, "--namespace", p.namespace)
			}
			c := p.command(args...)
			c.Env = append(c.Env, "TILT_PORT=0")
			for _, e := range tc.env {
				if e == "unreachable" {
					e = "KUBECONFIG=" + unreachableKubeconfig(t)
				}
				c.Env = append(c.Env, e)
			}
			out, code := p.finish(c)
			wantCode := 1
			if ofTiltfile[tc.name] {
				wantCode = 5
			}
			if code != wantCode {
				t.Errorf("exit code %d, want %d", code, wantCode)
			}
			last := out[max(0, strings.LastIndex(out, "Error: ")):]
			for _, want := range tc.want {
				if !strings.Contains(last, want) {
					t.Errorf("the message lacks %q", want)
				}
			}
			if _, err := p.get("apps", "v1", "deployments", "web"); err == nil && tc.name != "unknown kind" {
				t.Error("something was applied nevertheless")
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}

func unreachableKubeconfig(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"kind-gone",
"contexts":[{"name":"kind-gone","context":{"cluster":"kind-gone","user":"u"}}],
"clusters":[{"name":"kind-gone","cluster":{"server":"https://127.0.0.1:1"}}],"users":[{"name":"u","user":{}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestVersionAndDoctor checks the commands that only report.
func TestVersionAndDoctor(t *testing.T) {
	t.Parallel()
	p := newProject(t, "")
	if out, code := p.run("version"); code != 0 || !strings.HasPrefix(out, "hone v") {
		t.Errorf("version: %d %s", code, out)
	}
	out, code := p.run("doctor")
	for _, want := range []string{"hone-dev", "a development cluster", "containerd", "localhost:5000", "BuildKit", "local registry"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor lacks %q", want)
		}
	}
	if code != 0 || t.Failed() {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	c := p.command("doctor")
	c.Env = append(c.Env, "DOCKER_HOST=unix:///nonexistent.sock")
	if out, code := p.finish(c); code != 0 || !strings.Contains(out, "1 thing is wrong") {
		t.Errorf("doctor without an engine: %d\n%s", code, out)
	}
}

// TestCITimeout checks that ci names the resource that it was waiting for.
func TestCITimeout(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(nothing, "replicas: 0", "replicas: 1", 1))
	p.replace("app.yaml", "image: busybox", "image: busybox, command: [sleep, '100000'], readinessProbe: {exec: {command: ['false']}, periodSeconds: 1}")
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0", "--timeout", "8s")
	if code != 124 || !strings.Contains(out, "timed out after 8s: app is") || !strings.Contains(out, "--timeout") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
