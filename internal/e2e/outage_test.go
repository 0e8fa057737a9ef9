package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

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
	w = &wire{t: t, server: string(m[1]), address: "127.0.0.1:0", conns: map[net.Conn]bool{}}
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
	w.all.Go(func() { _, _ = io.Copy(up, c); _ = up.Close() })
	_, _ = io.Copy(c, up)
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
