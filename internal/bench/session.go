//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/client"
	sessions "github.com/hone-dev/hone/internal/session"
	"github.com/hone-dev/hone/pkg/api"
)

// project is a folder with a Tiltfile, a namespace for it, and hone's state for it.
type project struct {
	hone, dir, state, namespace string
	// kubeconfig is the file that hone gets; empty for the user's own.
	kubeconfig string
}

// newProject makes a project with the given files below dir, which it creates.
func newProject(hone, dir, namespace string, files map[string]string) (*project, error) {
	p := &project{hone: hone, dir: filepath.Join(dir, "src"), state: filepath.Join(dir, "state"), namespace: namespace}
	for name, text := range files {
		if err := p.write(name, text); err != nil {
			return nil, err
		}
	}
	return p, os.MkdirAll(p.state, 0o700)
}

// write replaces a file the way editors do: a new one, renamed over the old.
func (p *project) write(name, text string) error {
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+"~", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}

func (p *project) command(args ...string) *exec.Cmd {
	c := exec.Command(p.hone, args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+p.state, "XDG_RUNTIME_DIR="+p.state, "HONE_SESSION=", "NO_COLOR=1", "TILT_PORT=0")
	if p.kubeconfig != "" {
		c.Env = append(c.Env, "KUBECONFIG="+p.kubeconfig)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return c
}

// use is what a process that has ended took.
type use struct {
	wall, cpu time.Duration
	rss       int64 // bytes, at its highest
}

func (u use) String() string {
	return fmt.Sprintf("%s, %s CPU, %s", short(u.wall), short(u.cpu), megabytes(u.rss))
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// run runs hone to its end.
func (p *project) run(ctx context.Context, args ...string) (use, error) {
	c := p.command(args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	start := time.Now()
	if err := c.Start(); err != nil {
		return use{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Signal(os.Interrupt) })
	defer stop()
	err := c.Wait()
	u := use{wall: time.Since(start), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
		rss: c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10}
	if err != nil {
		return u, fmt.Errorf("hone %s: %w\n%s", strings.Join(args, " "), err, &out)
	}
	return u, nil
}

// session is a running "hone up --stream".
type session struct {
	cmd  *exec.Cmd
	port int
	// registry is where the session is found.
	registry *sessions.Registry
	out      *tail
	done     chan struct{}
}

// up starts a session. The caller stops it.
func (p *project) up(args ...string) (*session, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &session{port: port, registry: sessions.New(sessions.Dir(p.state, p.state)), out: &tail{}, done: make(chan struct{})}
	s.cmd = p.command(append([]string{"up", "--stream", "--namespace", p.namespace, "--port", fmt.Sprint(port)}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait()
	}()
	return s, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// stop interrupts the session and waits for its end.
func (s *session) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.done:
	case <-time.After(30 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}

// view asks the session's API.
func (s *session) view() (v api.View, err error) {
	select {
	case <-s.done:
		return v, fmt.Errorf("hone has ended")
	default:
	}
	c, err := client.Find(context.Background(), s.registry, client.Wish{Host: "localhost", Port: s.port})
	if err != nil {
		return v, err
	}
	return c.View(context.Background())
}

// ready waits until n resources are up to date and running.
func (s *session) ready(ctx context.Context, n int) error {
	err := await(ctx, 3*time.Minute, "the resources to be ready", func() error {
		v, err := s.view()
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(v.Resources, func(r api.Resource) bool {
			return r.UpdateStatus == "ok" && r.CurrentBuild == nil && (r.RuntimeStatus == "ok" || r.RuntimeStatus == "not_applicable")
		})
		if len(v.Resources) < n || len(left) > 0 {
			return fmt.Errorf("%d of %d are not", len(left), len(v.Resources))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.out)
	}
	return nil
}

// mode waits until no build of a resource runs and says how the newest was done.
func (s *session) mode(ctx context.Context, name string) (string, error) {
	var mode string
	err := await(ctx, time.Minute, "the build's end", func() error {
		v, err := s.view()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(v.Resources, func(r api.Resource) bool { return r.Name == name })
		if i < 0 || v.Resources[i].CurrentBuild != nil || len(v.Resources[i].BuildHistory) == 0 {
			return fmt.Errorf("a build runs")
		}
		b := v.Resources[i].BuildHistory[0]
		if b.Error != "" {
			return fmt.Errorf("build failed: %s", b.Error)
		}
		mode = b.Mode
		return nil
	})
	return mode, err
}

// tail keeps the end of what a process writes.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 4096

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-tailSize):]
	return len(p), nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
