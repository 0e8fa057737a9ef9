package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// wire is a way to the API server that can be cut.
type wire struct {
	t       *testing.T
	address string
	server  string

	mu    sync.Mutex
	l     net.Listener
	conns map[net.Conn]bool
	all   sync.WaitGroup
	// left is how many bytes may still go to the server before the way is cut; negative is no limit. Pause is the wait
	// after each piece. While stalled is open nothing moves.
	left    int
	over    chan struct{}
	pause   time.Duration
	stalled chan struct{}
}

// limit cuts the way after so many more bytes towards the server. The channel is closed when that is done.
func (w *wire) limit(bytes int) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.over = bytes, make(chan struct{})
	return w.over
}

// slow makes the way to the server as slow as a pause after each 64 KB.
func (w *wire) slow(pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pause = pause
}

// stall holds up everything, with connections open, until cut.
func (w *wire) stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stalled = make(chan struct{})
}

// pass is called for each piece that goes through, and reports false where the way ends.
func (w *wire) pass(n int, up bool) bool {
	w.mu.Lock()
	stalled, pause, over := w.stalled, w.pause, false
	if up && w.left >= 0 {
		if w.left -= n; w.left < 0 {
			over = true
			cut := w.over
			go func() { // this is one of the goroutines that cut waits for
				w.cut()
				close(cut)
			}()
		}
	}
	w.mu.Unlock()
	if stalled != nil {
		<-stalled
		return false
	}
	if up && n > 16<<10 {
		time.Sleep(pause) // the slowness that is asked for
	}
	return !over
}

// copy carries one direction.
func (w *wire) copy(to, from net.Conn, up bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !w.pass(n, up) {
			return
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// kubeconfig writes a kubeconfig that goes through w.
func newWire(t *testing.T) (w *wire, kubeconfig string) {
	t.Helper()
	b, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(`server: https://([^\s]+)`)
	m := re.FindSubmatch(b)
	if m == nil {
		t.Fatal("the kubeconfig names no server")
	}
	w = &wire{t: t, server: string(m[1]), address: "127.0.0.1:0", conns: map[net.Conn]bool{}, left: -1}
	w.join()
	w.address = w.l.Addr().String()
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, re.ReplaceAll(b, []byte("server: https://"+w.address)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.cut)
	return w, kubeconfig
}

// join opens the way.
func (w *wire) join() {
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.l = l
	w.mu.Unlock()
	w.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.all.Go(func() { w.carry(c) })
		}
	})
}

// cut ends every connection and refuses new ones.
func (w *wire) cut() {
	w.mu.Lock()
	if w.l != nil {
		_ = w.l.Close()
	}
	w.l = nil
	w.left = -1
	if w.stalled != nil {
		close(w.stalled)
	}
	w.stalled = nil
	for c := range w.conns {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.all.Wait()
}

func (w *wire) carry(c net.Conn) {
	up, err := net.Dial("tcp", w.server)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	if w.l == nil { // cut meanwhile
		_, _ = c.Close(), up.Close()
	}
	w.conns[c], w.conns[up] = true, true
	w.mu.Unlock()
	w.all.Go(func() { w.copy(up, c, true); _ = up.Close() })
	w.copy(c, up, false)
	_ = c.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
	delete(w.conns, up)
}

// TestClusterOutage cuts hone off from the cluster for a while: it says so, holds what it cannot do, and goes on by itself
// afterwards, on the same ports.
func TestClusterOutage(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	w, kubeconfig := newWire(t)
	p.env = []string{"KUBECONFIG=" + kubeconfig}
	s := p.up()
	defer s.asDeclared()
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
