package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/pkg/api"
)

// slowRegistry returns the reference of an image that no node has, in a registry that takes three seconds to answer.
func slowRegistry(t *testing.T) string {
	t.Helper()
	name := "hone-e2e-slow:" + uuid.NewString()[:8]
	ref := "localhost:5000/" + name
	build := exec.Command("docker", "build", "-q", "-t", ref, "-")
	build.Stdin = strings.NewReader("FROM busybox\nLABEL name=" + name + "\n")
	for _, c := range []*exec.Cmd{build, exec.Command("docker", "push", "-q", ref)} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", ref).Run() })
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "localhost:5000"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/manifests/") {
			select {
			case <-time.After(3 * time.Second):
			case <-r.Context().Done():
			}
		}
		forward.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return fmt.Sprintf("localhost:%d/%s", l.Addr().(*net.TCPAddr).Port, name)
}

// TestRolloutIsTold pulls an image that takes a while, and waits for a probe that fails at first: the log says so. The
// next update, whose image exists, does not mention the image.
func TestRolloutIsTold(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('app.yaml')
-- app.yaml --
`+deployment("app", `
terminationGracePeriodSeconds: 0
containers:
- name: app
  image: IMAGE
  command: [sh, -c, 'echo version one; sleep 14; touch /ready; exec sleep 100000']
  readinessProbe: {exec: {command: [cat, /ready]}, periodSeconds: 1}
`))
	p.replace("app.yaml", "IMAGE", slowRegistry(t))
	s := p.up()
	pod := `app │ \[event: pod ` + p.namespace + `/app-[a-z0-9-]+\] `
	s.says(pod + `Successfully assigned`)
	s.says(pod + `Pulling image "localhost:`)
	s.says(pod + `Successfully pulled image "localhost:[^"]+" in [3-9]`)
	s.says(pod + `Readiness probe failed: cat: can't open '/ready'`)
	r := s.becomes("app", "waiting for its probe", func(r api.Resource) bool {
		return r.RuntimeStatus == "pending" && strings.Contains(r.RuntimeError, "readiness probe exec cat /ready fails: cat: can't open '/ready'")
	})
	if !strings.Contains(r.RuntimeError, "container app: ") {
		t.Errorf("the container is not named: %q", r.RuntimeError)
	}
	s.says(`app │ \[rollout: deployment ` + p.namespace + `/app\] 0 of 1 available`)
	s.ready("app")
	s.says(`app │ pod app-[a-z0-9-]+ is ready, [0-9]+s after it was created`)
	s.says(`app │ \[rollout: deployment ` + p.namespace + `/app\] rolled out after [0-9]+s`)
	if n := strings.Count(s.out.String(), "Readiness probe failed"); n > 6 {
		t.Errorf("the probe is reported %d times", n)
	}

	p.replace("app.yaml", "echo version one; sleep 14;", "echo version two;")
	s.says(`app │ version two`)
	s.ready("app")
	for _, what := range []string{"Pulling image", "Successfully assigned", "Successfully pulled"} {
		if n := strings.Count(s.out.String(), what); n != 1 {
			t.Errorf("%q is reported %d times", what, n)
		}
	}
}

// TestCIContainerEnds checks that ci reports which container ended, how, and its last output.
func TestCIContainerEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind, policy, script string
		want                 string // the pattern of the error's first line
		said                 []string
	}{
		"exit code": {"Deployment", "Always", "for i in $(seq 40); do echo line $i; done; echo no database; exit 3",
			`app: pod app-[a-z0-9-]+: container app: (Error, exit code 3|CrashLoopBackOff, exit code 3 \(Error\))`, []string{"line 40", "no database"}},
		"completed": {"Deployment", "Always", "echo all done",
			`app: pod app-[a-z0-9-]+: container app: CrashLoopBackOff, ended with exit code 0 \(it is meant to keep running\)`, []string{"all done"}},
		"job": {"Job", "Never", "echo migrating; exit 7",
			`app: job/\S+/app: .*BackoffLimitExceeded.*; pod app-[a-z0-9]+: container app: Error, exit code 7`, []string{"migrating"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, "-- Tiltfile --\nk8s_yaml('app.yaml')\n")
			spec := "selector: {matchLabels: {app: app}}"
			version := "apps/v1"
			probe := ", readinessProbe: {exec: {command: ['false']}}" // otherwise it may be ready for a moment, which is enough for ci
			if tt.kind == "Job" {
				spec, version, probe = "backoffLimit: 0", "batch/v1", ""
			}
			p.write("app.yaml", fmt.Sprintf(`
apiVersion: %s
kind: %s
metadata: {name: app}
spec:
  %s
  template:
    metadata: {labels: {app: app}}
    spec:
      restartPolicy: %s
      terminationGracePeriodSeconds: 0
      containers:
      - {name: app, image: busybox, command: [sh, -c, %q]%s}
`, version, tt.kind, spec, tt.policy, tt.script, probe))
			r := p.ci()
			if r.code != 1 {
				t.Errorf("exit code %d", r.code)
			}
			_, failure, _ := strings.Cut(r.stderr, "Error: ")
			first, rest, _ := strings.Cut(failure, "\n")
			if !regexp.MustCompile("^" + tt.want + "$").MatchString(first) {
				t.Errorf("the error says %q, want %q", first, tt.want)
			}
			rest, _ = strings.CutPrefix(rest, "  the last lines of its log:\n")
			lines := strings.Split(strings.TrimSpace(rest), "\n")
			if len(lines) > 15 || len(lines) < len(tt.said) {
				t.Fatalf("%d lines: %q", len(lines), lines)
			}
			for i, want := range tt.said {
				if got := strings.TrimSpace(lines[len(lines)-len(tt.said)+i]); got != "│ "+want {
					t.Errorf("line %q, want %q", got, want)
				}
			}
			if !strings.Contains(r.summary.Failure, tt.said[0]) {
				t.Errorf("the summary says %q", r.summary.Failure)
			}
			exit := regexp.MustCompile(`exit code \d`).FindString(first)
			if f := r.test("app").Failure; f == nil || !strings.Contains(f.Message, exit) || !strings.Contains(f.Text, tt.said[0]) {
				t.Errorf("the report says %+v", f)
			}
		})
	}
}

// TestCINotReady checks that ci names the failing probe, and its answer, when the time is up.
func TestCINotReady(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ probe, want string }{
		"http":    {"readinessProbe: {httpGet: {path: /health, port: 8080}, periodSeconds: 1}", "readiness probe httpGet :8080/health fails: HTTP probe failed with statuscode: 404"},
		"refused": {"readinessProbe: {tcpSocket: {port: 8081}, periodSeconds: 1}", "readiness probe tcpSocket :8081 fails: dial tcp "},
		"exec":    {"readinessProbe: {exec: {command: [sh, -c, 'echo not yet; exit 1']}, periodSeconds: 1}", "readiness probe exec sh -c echo not yet; exit 1 fails: not yet"},
		"startup": {"startupProbe: {grpc: {port: 9000}, periodSeconds: 1, failureThreshold: 100}", "startup probe grpc :9000 fails: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, `
-- Tiltfile --
k8s_yaml('app.yaml')
-- app.yaml --
`+deployment("app", `
terminationGracePeriodSeconds: 0
containers:
- name: app
  image: busybox
  command: [httpd, -f, -p, '8080']
  PROBE
`))
			p.replace("app.yaml", "PROBE", tt.probe)
			r := p.ci("--timeout", "20s")
			if r.code != 124 {
				t.Errorf("exit code %d", r.code)
			}
			want := regexp.MustCompile(`Error: timed out after 20s: app is not ready: pod app-[a-z0-9-]+: container app: ` + regexp.QuoteMeta(tt.want))
			if !want.MatchString(r.stderr) {
				t.Errorf("the error lacks %s", want)
			}
			if f := r.test("app").Failure; f == nil || !strings.Contains(f.Message+f.Text, tt.want) {
				t.Errorf("the report says %+v", f)
			}
		})
	}
}
