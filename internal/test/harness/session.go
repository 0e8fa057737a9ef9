package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/pkg/api"
)

// Session is a running "hone up --stream".
type Session struct {
	Cmd  *exec.Cmd
	Port int
	// Registry lists the session.
	Registry *sessions.Registry
	// Out is the end of its output.
	Out *Tail
	// Done is closed when its process has ended.
	Done chan struct{}
}

// Up starts "hone up --stream" on a free port. The caller stops it.
func (p *Project) Up(args ...string) (*Session, error) {
	port, err := freeport.Next()
	if err != nil {
		return nil, err
	}
	return p.Start(p.Command(append([]string{"up", "--stream", "--namespace", p.Namespace, "--port", fmt.Sprint(port)}, args...)...), port)
}

// Start starts a prepared command that is a session with the given port. Out stays empty if the command has an output of its own, such as a
// Terminal. The caller stops it.
func (p *Project) Start(c *exec.Cmd, port int) (*Session, error) {
	s := &Session{Cmd: c, Port: port, Registry: p.Registry(), Out: &Tail{size: tailSize}, Done: make(chan struct{})}
	if c.Stdout == nil {
		c.Stdout, c.Stderr = s.Out, s.Out
	}
	s.Cmd.WaitDelay = time.Second // children of a killed session may hold the pipe open
	if err := s.Cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.Done)
		_ = s.Cmd.Wait()
	}()
	return s, nil
}

// Stop interrupts the session and waits for its end. A session that does not end gets SIGQUIT to dump its goroutines,
// and that is an error.
func (s *Session) Stop() error {
	_ = s.Cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.Done:
		return nil
	case <-time.After(killDelay):
		_ = s.Cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-s.Done:
		case <-time.After(killDelay):
			_ = s.Cmd.Process.Kill()
			<-s.Done
		}
		return fmt.Errorf("hone did not end within %s of being interrupted\n%s", killDelay, s.Out)
	}
}

// Kill kills the session.
func (s *Session) Kill() {
	_ = s.Cmd.Process.Kill()
	<-s.Done
}

// Client returns a client of the session.
func (s *Session) Client(ctx context.Context) (*client.Client, error) {
	select {
	case <-s.Done:
		return nil, fmt.Errorf("hone has ended")
	default:
	}
	return client.Find(ctx, s.Registry, client.Selector{Host: "localhost", Port: s.Port})
}

// View queries the session's API.
func (s *Session) View() (v api.View, err error) {
	c, err := s.Client(context.Background())
	if err != nil {
		return v, err
	}
	return c.View(context.Background())
}

// Ready waits until n resources are up to date and running.
func (s *Session) Ready(ctx context.Context, n int) error {
	err := Await(ctx, 3*time.Minute, "the resources to be ready", func() error {
		v, err := s.View()
		if err != nil {
			return err
		}
		total := len(v.Resources)
		left := slices.DeleteFunc(v.Resources, Ready)
		if total < n || len(left) > 0 {
			return fmt.Errorf("%d of %d are not: %s", len(left), total, states(left))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.Out)
	}
	return nil
}

// Ready reports whether a resource is up to date and running.
func Ready(r api.Resource) bool {
	done := []string{"ok", "not_applicable"}
	return slices.Contains(done, r.UpdateStatus) && slices.Contains(done, r.RuntimeStatus)
}

// states returns the states of resources for a message.
func states(all []api.Resource) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, " %s (update %s, runtime %s", r.Name, r.UpdateStatus, r.RuntimeStatus)
		if r.Waiting != nil {
			fmt.Fprintf(&b, ", %s", r.Waiting.Text)
		}
		if len(r.BuildHistory) > 0 && r.BuildHistory[0].Error != "" {
			fmt.Fprintf(&b, ", %s", r.BuildHistory[0].Error)
		}
		b.WriteString(")")
	}
	return strings.TrimSpace(b.String())
}

// Mode waits until no build of a resource runs and returns the mode of the newest.
func (s *Session) Mode(ctx context.Context, name string) (string, error) {
	var mode string
	err := Await(ctx, time.Minute, "the build's end", func() error {
		v, err := s.View()
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

// Tail keeps the end of a process's output.
type Tail struct {
	size int
	mu   sync.Mutex
	b    []byte
}

// tailSize is the number of bytes that are kept of a session's output: enough to see the events before its end.
const tailSize = 64 << 10

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-t.size):]
	return len(p), nil
}

// String returns the kept output.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
