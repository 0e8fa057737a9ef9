package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// replicas is web in three pods, each of which records the order in which it received its pages, and is slow while a
// file /tmp/slow exists.
var replicas = strings.NewReplacer(
	"sync('site', '/www')", "sync('site', '/www'), run('cat /www/index.html >>/tmp/order; echo >>/tmp/order; while [ -e /tmp/slow ]; do sleep 0.1; done')",
	"  selector: {matchLabels: {app: web}}\n", "  replicas: 3\n  selector: {matchLabels: {app: web}}\n",
	"k8s_resource('web', port_forwards='$PORT0:80')", "",
).Replace(web)

// shells returns a function that runs a script in container web of a pod, and returns the output.
func (p *project) shells(real *k8stest.Real) func(pod, script string) (string, error) {
	return func(pod, script string) (string, error) {
		var out bytes.Buffer
		err := real.Client.Exec(p.t.Context(), k8s.ExecRequest{Namespace: p.namespace, Pod: pod, Container: "web",
			Argv: []string{"sh", "-c", script}, Stdout: &out, Stderr: &out})
		return strings.TrimSpace(out.String()), err
	}
}

// TestASlowReplicaHoldsNobodyUp keeps the user's command from ending in one of three pods during 50 saves: the other
// pods get each of them at once, the screen shows which pod is behind, and in the end all have everything in the right
// order.
func TestASlowReplicaHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	const saves = 50
	real := k8stest.NewReal(t)
	p := newProjectOn(t, real, replicas)
	ask := p.shells(real)
	s := p.up()
	r := s.becomes("web", "ready in three pods with synclets", func(r api.Resource) bool {
		n := 0
		for _, sync := range r.Synclets {
			if sync.State == "ready" {
				n++
			}
		}
		return ready(r) && n == 3
	})
	slow := r.Pods[0].Name
	if out, err := ask(slow, "touch /tmp/slow"); err != nil {
		t.Fatalf("slow the pod down: %v\n%s", err, out)
	}
	for i := range saves {
		p.write(fmt.Sprintf("site/%d.html", i), "page")
		p.write("site/index.html", strconv.Itoa(i))
		for _, pod := range r.Pods[1:] {
			s.await(fmt.Sprintf("save %d in %s", i, pod.Name), func() error {
				got, err := ask(pod.Name, "tail -n 1 /tmp/order")
				if err == nil && got != strconv.Itoa(i) {
					err = fmt.Errorf("got %q", got)
				}
				return err
			})
		}
	}
	lagging := s.becomes("web", "behind in one of three containers", func(r api.Resource) bool {
		return r.Lag != nil && len(r.Lag.Behind) == 1 && r.Lag.Of == 3 && r.UpdateStatus == "ok"
	})
	if b := lagging.Lag.Behind[0]; b.Pod != slow || len(b.Files) == 0 || b.Since.IsZero() {
		t.Errorf("behind: %+v", b)
	}
	if out, err := ask(slow, "rm /tmp/slow"); err != nil {
		t.Fatalf("let the pod continue: %v\n%s", err, out)
	}
	s.becomes("web", "nowhere behind", func(r api.Resource) bool { return r.Lag == nil && ready(r) })
	for _, pod := range r.Pods {
		s.await("everything in "+pod.Name, func() error {
			pages, err := ask(pod.Name, "ls /www/*.html | wc -l; cat /www/index.html")
			if want := fmt.Sprintf("%d\n%d", saves+1, saves-1); err == nil && pages != want {
				err = fmt.Errorf("got %q, want %q", pages, want)
			}
			return err
		})
		order, err := ask(pod.Name, "cat /tmp/order")
		if err = errors.Join(err, ascending(order)); err != nil {
			t.Errorf("%s: %v", pod.Name, err)
		}
	}
	after := s.becomes("web", "still there", ready)
	for i, pod := range after.Pods {
		if pod.Name != r.Pods[i].Name || pod.Restarts != 0 {
			t.Errorf("a pod was replaced: %+v, then %+v", r.Pods[i], pod)
		}
	}
	s.says(`→ web in \d+ pods: \d+ files?, .* each by synclet in [\d.]+ m?s$`)
}

// ascending checks that no older page came after a newer one.
func ascending(order string) error {
	last := -1
	for line := range strings.Lines(order) {
		text := strings.TrimSpace(line)
		if text == "one" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < last {
			return fmt.Errorf("%q after %d: %s", text, last, order)
		}
		last = n
	}
	return nil
}
