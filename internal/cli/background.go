package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/session"
)

const (
	// backgroundVariable tells a session that it runs in the background, and which file it writes to.
	backgroundVariable = "HONE_BACKGROUND"
	// startCheck is how often the caller looks whether the session has started.
	startCheck = 50 * time.Millisecond
)

// background is the log file of a session in the background; empty for any other.
type background string

// inBackground returns what this process was started as, and hides it from the commands that it starts.
func inBackground() background {
	log := background(os.Getenv(backgroundVariable))
	_ = os.Unsetenv(backgroundVariable)
	return log
}

// name calls the log file by the session's name.
func (b background) name(ctx context.Context, c *session.Claim) error {
	if b == "" {
		return nil
	}
	path := filepath.Join(filepath.Dir(string(b)), c.Info().Name+".log")
	if err := os.Rename(string(b), path); err != nil {
		return fmt.Errorf("name the session's log: %w", err)
	}
	return c.Publish(ctx, func(i *session.Info) { i.Log = path })
}

// detach starts a session in the background and waits until it has begun its work. What keeps it from that is printed here.
func detach(ctx context.Context, g *global) error {
	log, err := newBackgroundLog()
	if err != nil {
		return err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find hone: %w", err)
	}
	cmd := exec.Command(self, g.args...)
	cmd.Env = append(os.Environ(), backgroundVariable+"="+log.Name())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		_ = os.Remove(log.Name())
		return fmt.Errorf("start hone in the background: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s, err := awaitStart(ctx, cmd.Process, ended)
	if err != nil {
		_, _ = log.Seek(0, io.SeekStart)
		_, _ = io.Copy(g.stderr, log)
		_ = os.Remove(log.Name()) // unless it has the session's name by now
		return err
	}
	fmt.Fprintf(g.stdout, "Session %s runs in the background, pid %d.\n", s.Name, s.PID)
	if s.URL != "" {
		fmt.Fprintf(g.stdout, "Session API at %s\n", s.URL)
	}
	fmt.Fprintf(g.stdout, "Log in %s\n\n  hone attach --session %s   shows it\n  hone stop --session %s     ends it\n", s.Log, s.Name, s.Name)
	return nil
}

// newBackgroundLog makes a log file that has no name of its own yet.
func newBackgroundLog() (*os.File, error) {
	dir := filepath.Join(stateDir(), "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of logs: %w", err)
	}
	f, err := os.CreateTemp(dir, "starting-*.log")
	if err != nil {
		return nil, fmt.Errorf("make the session's log: %w", err)
	}
	return f, nil
}

// awaitStart waits until the session of a process has begun its work, or the process has ended. When the user gives up, the
// process is ended, too.
func awaitStart(ctx context.Context, p *os.Process, ended <-chan error) (session.Info, error) {
	tick := time.NewTicker(startCheck)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return session.Info{}, reported{coded{err, exit.ExitCode()}}
			}
			return session.Info{}, reported{coded{errors.New("the session has ended"), exitFailure}}
		case <-ctx.Done():
			_ = p.Signal(syscall.SIGTERM)
			<-ended
			return session.Info{}, ctx.Err()
		case <-tick.C:
		}
		living, err := registry().List(ctx)
		if err != nil {
			continue // the session says so itself, and ends
		}
		for _, s := range living {
			if s.PID == p.Pid && s.Started {
				return s, nil
			}
		}
	}
}
