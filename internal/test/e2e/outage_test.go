package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/test/proxy"
	"github.com/hone-dev/hone/pkg/api"
)

// wire is a proxy to the API server that can be cut.
type wire struct {
	*proxy.Wire
	t *testing.T
}

// limit cuts the wire after the given number of further bytes towards the server. The channel is closed when that is
// done.
func (w *wire) limit(bytes int) <-chan struct{} { return w.Limit(bytes) }

// slow slows the direction to the server by a pause after each 64 KB.
func (w *wire) slow(pause time.Duration) { w.Slow(pause) }

// stall stops all traffic, with connections open, until cut.
func (w *wire) stall() { w.Stall() }

// join opens the wire.
func (w *wire) join() {
	if err := w.Join(); err != nil {
		w.t.Fatal(err)
	}
}

// cut ends every connection and refuses new ones.
func (w *wire) cut() { w.Cut() }

// newWire opens a wire to the cluster, and writes a kubeconfig that goes through it.
func newWire(t *testing.T) (w *wire, kubeconfig string) {
	t.Helper()
	return newWireTo(t, os.Getenv("KUBECONFIG"))
}

// newWireTo is newWire for the cluster of a kubeconfig.
func newWireTo(t *testing.T, of string) (w *wire, kubeconfig string) {
	t.Helper()
	b, err := os.ReadFile(of)
	if err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(`server: https://([^\s]+)`)
	m := re.FindSubmatch(b)
	if m == nil {
		t.Fatal("the kubeconfig names no server")
	}
	way, err := proxy.NewWire(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	w = &wire{Wire: way, t: t}
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, re.ReplaceAll(b, []byte("server: https://"+w.Address())), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.cut)
	return w, kubeconfig
}

// overWire starts hone on the project, whose only resource is web, over a wire to the cluster, and waits until its pod can be
// updated in place.
func (p *project) overWire() (*wire, *session, api.Pod) {
	p.t.Helper()
	w, kubeconfig := newWire(p.t)
	p.env = []string{"KUBECONFIG=" + kubeconfig}
	s := p.up()
	s.ready("web")
	s.says(`Ready to update web in place`)
	return w, s, current(p.t, s, "web")
}

// TestClusterOutage cuts hone off from the cluster for a while: hone reports that, holds updates that it cannot make,
// and continues on its own afterwards, on the same ports.
func TestClusterOutage(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	w, kubeconfig := newWire(t)
	p.env = []string{"KUBECONFIG=" + kubeconfig}
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")

	w.cut()
	s.await("the outage to be noticed", func() error {
		v, err := s.view()
		if err == nil && v.ClusterError == "" {
			err = fmt.Errorf("no error yet")
		}
		return err
	})
	p.write("conf/settings", "a=2") // needs a new image, and the cluster
	s.becomes("web", "waiting for the cluster", func(r api.Resource) bool {
		return r.Waiting != nil && r.Waiting.Reason == "waiting-for-cluster"
	})
	w.join()
	s.builds("web", 2)
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.says(`web │ .*response:200`)
	if b := s.builds("web", 3); b.Mode != "synclet" || b.Error != "" {
		t.Errorf("build after the outage: %+v", b)
	}
}

// TestLostConnections takes every connection to the cluster away without an error, as a change of networks does, from a thin line:
// saves still arrive, as differences, and logs and port forwards continue.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	w, kubeconfig := newWire(t)
	w.Stretch(proxy.Line{Delay: 10 * time.Millisecond, Rate: 12.5e6})
	p.env = []string{"KUBECONFIG=" + kubeconfig}
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	big := bytes.Repeat([]byte("a line of a page that is large enough to be sent as a difference\n"), 5000)
	big = bytes.TrimSpace(big) // the server trims it, too
	p.write("site/index.html", string(big))
	s.builds("web", 2)
	for i, builds := range []int{3, 4} {
		w.Lose()
		began := time.Now()
		copy(big[100<<10:], fmt.Sprintf("edit %d", i))
		p.write("site/index.html", string(big))
		s.serves(p.ports[0], "/", string(big))
		t.Logf("it was there after %s", time.Since(began))
		if b := s.builds("web", builds); b.Mode != "synclet" || b.Error != "" {
			t.Errorf("after the loss of all connections: %+v", b)
		}
		s.says(`web │ .*response:200`)
	}
}

// TestSilentCluster puts an API server behind a wire that stops forwarding, with connections open: facts that only the cluster
// knows become unknown, local resources stay true, and when the wire forwards again all is known again, without an update.
func TestSilentCluster(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_yaml(", "local_resource('here', serve_cmd='exec sleep 100000')\nk8s_yaml(")
	w, kubeconfig := newWire(t)
	p.env = []string{"KUBECONFIG=" + kubeconfig}
	s := p.up()
	s.ready("web")
	s.ready("here")
	before, _ := s.resource("web")
	w.stall()
	began := time.Now()
	unknown := s.becomes("web", "unknown", func(r api.Resource) bool { return r.RuntimeStatus == "unknown" })
	t.Logf("noticed after %s", time.Since(began).Round(time.Millisecond))
	if !strings.HasPrefix(unknown.RuntimeText, "unknown since ") || !strings.HasSuffix(unknown.RuntimeText, ", was "+before.RuntimeText) {
		t.Errorf("runtime: %q, before: %q", unknown.RuntimeText, before.RuntimeText)
	}
	if here, _ := s.resource("here"); here.RuntimeStatus != "ok" {
		t.Errorf("the local resource: %q", here.RuntimeStatus)
	}
	if out, code := p.run("get", "uiresource", "web"); code != 0 || !regexp.MustCompile(`web +unknown +ok +unknown`).MatchString(out) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	w.Flow()
	began = time.Now()
	s.ready("web")
	t.Logf("back after %s", time.Since(began).Round(time.Millisecond))
	after, _ := s.resource("web")
	if len(after.BuildHistory) != len(before.BuildHistory) || after.RuntimeText != before.RuntimeText {
		t.Errorf("after the silence: %+v", after)
	}
	s.serves(p.ports[0], "/", "one")
}
