package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/pkg/api"
)

func failed(r api.Resource) bool { return r.UpdateStatus == "error" || r.RuntimeStatus == "error" }

// TestLogsAreComplete runs a pod with an init container, two containers and restarts: each line arrives exactly once.
func TestLogsAreComplete(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('app.yaml')
k8s_resource('app', pod_readiness='ignore')
-- app.yaml --
`+deployment("app", `
terminationGracePeriodSeconds: 0
volumes: [{name: shared, emptyDir: {}}]
initContainers:
- {name: prepare, image: busybox, command: [sh, -c, 'for i in $(seq 50); do echo prepare line $i; done']}
containers:
- name: counts
  image: busybox
  volumeMounts: [{name: shared, mountPath: /shared}]
  command: [sh, -c, 'n=$(cat /shared/n 2>/dev/null || echo 0); echo $((n+1)) > /shared/n; for i in $(seq 2000); do echo run $n line $i; done; [ $n -lt 2 ] || exec sleep 100000; exit 3']
- {name: waits, image: busybox, command: [sh, -c, 'echo waits here; exec sleep 100000']}
`))
	s := p.up()
	s.says(`app │ \[counts\] run 2 line 2000`)
	s.says(`app │ \[waits\] waits here`)
	out := s.out.String()
	count := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)app │ \[(?:counts|prepare)\] ((?:run \d|prepare) line \d+)$`).FindAllStringSubmatch(out, -1) {
		count[m[1]]++
	}
	for run := range 3 {
		for i := 1; i <= 2000; i++ {
			if n := count[fmt.Sprintf("run %d line %d", run, i)]; n != 1 {
				t.Fatalf("run %d line %d came %d times", run, i, n)
			}
		}
	}
	for i := 1; i <= 50; i++ {
		if n := count[fmt.Sprintf("prepare line %d", i)]; n != 1 {
			t.Errorf("prepare line %d came %d times", i, n)
		}
	}
	if r, _ := s.resource("app"); len(r.Pods) != 1 || r.Pods[0].Restarts != 2 {
		t.Errorf("pods: %+v", r.Pods)
	}
}

// TestShortLivedPod reads the log of a job that ends at once.
func TestShortLivedPod(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('job.yaml')
-- job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: quick}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: quick, image: busybox, command: [echo, gone in a flash]}]}
`)
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 0 || strings.Count(out, "quick │ gone in a flash") != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestCrashLoop shows a crash loop with its reason, and the next good version ends it.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(nothing, "replicas: 0", "replicas: 1", 1))
	p.replace("app.yaml", "image: busybox", "image: busybox, command: [sh, -c, 'echo about to fail; exit 7']")
	s := p.up()
	r := s.becomes("app", "failing", func(r api.Resource) bool { return r.RuntimeStatus == "error" })
	if !strings.Contains(r.RuntimeError, "container app") {
		t.Errorf("runtime error: %q", r.RuntimeError)
	}
	s.says(`app │ about to fail`)
	s.says(`\[event: pod .*Back-off restarting failed container`)
	p.replace("app.yaml", "exit 7", "exec sleep 100000")
	s.ready("app")
}

// TestImagePullError ends ci at once, with the reason.
func TestImagePullError(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(nothing, "replicas: 0", "replicas: 1", 1))
	p.replace("app.yaml", "image: busybox", "image: localhost:5000/no-such-image")
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 1 || !regexp.MustCompile(`Error: app: pod app-.*(ErrImagePull|ImagePullBackOff).*no-such-image`).MatchString(out) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestRefusedPods: pods are refused; the resource fails and says why, also on the error card and in ci, and has its pods once they
// are no longer refused.
func TestRefusedPods(t *testing.T) {
	t.Parallel()
	const (
		quota  = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {pods: \"0\"}}\n"
		limits = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: [{type: Container, min: {cpu: 50m}}]}\n"
		pods   = "spec: {terminationGracePeriodSeconds: 0, containers: [{name: app, image: busybox, command: [sleep, '100000'], resources: {requests: {cpu: 10m}, limits: {cpu: 100m}}}]}"
		set    = "apiVersion: apps/v1\nkind: KIND\nmetadata: {name: app}\nspec:\n  selector: {matchLabels: {app: app}}\n  template:\n    metadata: {labels: {app: app}}\n    " + pods + "\n"
		job    = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: app}\nspec:\n  template:\n    " + pods + "\n"
	)
	exceeds, below := "exceeded quota: small", "minimum cpu usage per Container is 50m"
	for _, tc := range []struct{ name, refuses, workload, why, helps, allow, allowed string }{
		{"Deployment", quota, strings.Replace(set, "KIND", "Deployment", 1), exceeds, "raise the ResourceQuota small", `pods: "0"`, `pods: "5"`},
		{"StatefulSet", quota, strings.Replace(set, "KIND", "StatefulSet", 1), exceeds, "raise the ResourceQuota small", `pods: "0"`, `pods: "5"`},
		{"DaemonSet", limits, strings.Replace(set, "KIND", "DaemonSet", 1), below, "the LimitRange of the namespace bounds resources", `cpu: 50m`, `cpu: 5m`},
		{"Job", quota, strings.Replace(job, "containers:", "restartPolicy: Never, containers:", 1), exceeds, "raise the ResourceQuota small", `pods: "0"`, `pods: "5"`},
		// The object itself is corrected, so that earlier messages about it no longer count.
		{"corrected StatefulSet", limits, strings.Replace(set, "KIND", "StatefulSet", 1), below, "the LimitRange of the namespace bounds resources", "cpu: 10m", "cpu: 60m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			// An API server learns of a quota by its own watch: pods that are created right after it may still pass.
			p := newProject(t, "\n-- Tiltfile --\nk8s_yaml('limits.yaml')\nk8s_resource(new_name='limits', objects=['small'])\n"+
				"local_resource('in force', 'while kubectl create --dry-run=server -n $NS -f pod.yaml; do :; done', env={'NS': k8s_namespace()}, resource_deps=['limits'])\n"+
				"k8s_yaml('app.yaml')\nk8s_resource('app', resource_deps=['in force'], pod_readiness='wait')\n-- limits.yaml --\n"+tc.refuses+"-- app.yaml --\n"+tc.workload+
				"-- pod.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: app}\n"+pods+"\n")
			reason := "its pods cannot be created: " + tc.why
			out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
			if code != 1 || !regexp.MustCompile(`Error: app: \w+/\S+/app: `+regexp.QuoteMeta(reason)).MatchString(out) {
				t.Errorf("ci: exit code %d\n%s", code, out)
			}
			s := p.up()
			if strings.HasSuffix(tc.name, "Deployment") || strings.HasSuffix(tc.name, "StatefulSet") {
				defer s.asDeclared() // for other kinds, the fields that API servers add depend on the object
			}
			r := s.becomes("app", "failing because its pods are refused", func(r api.Resource) bool { return strings.Contains(r.RuntimeError, reason) })
			if r.RuntimeStatus != "error" {
				t.Errorf("its status is %s", r.RuntimeStatus)
			}
			term := p.terminal(160, 34)
			term.keys(binary+" attach", "Enter")
			term.shows(`✖ 1 failing`)
			term.keys("e")
			term.shows(`its pods are refused`)
			term.shows(regexp.QuoteMeta(tc.helps))
			for _, file := range []string{"limits.yaml", "app.yaml"} {
				if text, err := os.ReadFile(filepath.Join(p.dir, file)); err == nil && strings.Contains(string(text), tc.allow) {
					p.replace(file, tc.allow, tc.allowed)
				}
			}
			s.ready("app")
			term.hides("1 failing")
		})
	}
}

// TestPortForwardOutlivesPods keeps a connection busy while the pod is killed: it ends, and the next one, on the same
// port, reaches the new pod.
func TestPortForwardOutlivesPods(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	inFlight, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", p.ports[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer inFlight.Close()
	if _, err := io.WriteString(inFlight, "GET / HTTP/1.1\r\n"); err != nil { // a request that is never finished
		t.Fatal(err)
	}
	pod := current(t, s, "web")
	zero := int64(0)
	if err := p.dyn.Resource(pods).Namespace(p.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	_ = inFlight.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(inFlight); err != nil {
		if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
			t.Error("the connection to the killed pod is still open")
		}
	}
	// A connection that comes while there is no pod waits for one, 10 s. The pod may need longer.
	s.await("an answer right after the kill", func() error {
		began := time.Now()
		got, err := fetch(p.ports[0], "/")
		if waited := time.Since(began); err != nil && waited < 9*time.Second || err == nil && got != "one" {
			t.Errorf("right after the kill, after %s: %q, %v", waited, got, err)
		}
		return err
	})
	s.ready("web")
	for range 20 {
		if got, err := fetch(p.ports[0], "/"); err != nil || got != "one" {
			t.Errorf("afterwards: %q, %v", got, err)
		}
	}
}

// TestForwardPortInUse checks that hone reports the process that holds the port, and opens the port as soon as it is
// free.
func TestForwardPortInUse(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p.ports[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := p.up()
	s.says(fmt.Sprintf(`web │ .*%d`, p.ports[0]))
	s.becomes("web", "without its port", func(r api.Resource) bool {
		return len(r.PortForwards) == 1 && r.PortForwards[0].State == "failed" && r.PortForwards[0].Error != ""
	})
	l.Close()
	s.serves(p.ports[0], "/", "one")
}

// TestLocalServer changes a dependency of a local resource with a server: its command runs again, and the server is started again.
func TestLocalServer(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
local_resource('server', cmd='echo prepared', serve_cmd='echo serving $$; exec sleep 100000', deps=['dep'])
-- dep --
`)
	s := p.up()
	s.ready("server")
	first := s.says(`server │ serving \d+`)
	p.write("dep", "changed")
	s.builds("server", 2)
	s.await("another process", func() error {
		if n := strings.Count(s.out.String(), "server │ serving "); n != 2 {
			return fmt.Errorf("%d starts, first %q", n, first)
		}
		return nil
	})
	s.ready("server")
}
