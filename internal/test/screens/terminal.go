//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

const (
	// width and height are the size of the terminal.
	width, height = 120, 30
	// patience is the time that the demo may take to come into a state.
	patience = 3 * time.Minute
)

// terminal is a tmux server of its own with one window, in which hone runs.
type terminal struct{ socket string }

// open runs a command in a new terminal.
func open(ctx context.Context, dir string, command ...string) (*terminal, error) {
	t := &terminal{fmt.Sprintf("hone-screens-%d", os.Getpid())}
	args := append([]string{"-L", t.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}, command...)
	c := exec.CommandContext(ctx, "tmux", args...)
	c.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "NO_COLOR=") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "LC_ALL=C.UTF-8")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("start tmux: %w\n%s", err, out)
	}
	return t, nil
}

func (t *terminal) tmux(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-L", t.socket}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// close ends the terminal and the programs in it. A session would outlive its terminal.
func (t *terminal) close() {
	ctx := context.Background()
	if out, err := t.tmux(ctx, "display-message", "-p", "#{pane_pid}"); err == nil { // else it has ended
		if pid, err := strconv.Atoi(strings.TrimSpace(out)); err == nil {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	_, _ = t.tmux(ctx, "kill-server")
}

// quit ends hone, and waits for its end.
func (t *terminal) quit(ctx context.Context) error {
	if _, err := t.tmux(ctx, "send-keys", "C-c"); err != nil {
		return err
	}
	return harness.Await(ctx, patience, "the end of hone", func() error {
		if _, err := t.tmux(ctx, "has-session"); err == nil {
			return fmt.Errorf("it still runs")
		}
		return nil
	})
}

// steps drives the terminal until the first error.
type steps struct {
	ctx  context.Context
	term *terminal
	err  error
}

// take drives the terminal, and returns its content afterwards.
func (t *terminal) take(ctx context.Context, drive func(*steps)) (picture, error) {
	s := &steps{ctx, t, nil}
	drive(s)
	if s.err != nil {
		return nil, s.err
	}
	out, err := t.tmux(ctx, "capture-pane", "-p", "-e", "-N")
	if err != nil {
		return nil, err
	}
	return read(out, width), nil
}

func (s *steps) do(f func() error) {
	if s.err == nil {
		s.err = f()
	}
}

// keys sends keys, or with -l a text.
func (s *steps) keys(keys ...string) {
	s.do(func() error {
		_, err := s.term.tmux(s.ctx, append([]string{"send-keys"}, keys...)...)
		return err
	})
}

// shows waits until the screen matches all of some regular expressions.
func (s *steps) shows(patterns ...string) {
	s.until(func(screen string) error {
		for _, p := range patterns {
			if !regexp.MustCompile(`(?m)` + p).MatchString(screen) {
				return fmt.Errorf("the screen does not show %q:\n%s", p, screen)
			}
		}
		return nil
	})
}

// hides waits until the screen does not show a text.
func (s *steps) hides(text string) {
	s.until(func(screen string) error {
		if strings.Contains(screen, text) {
			return fmt.Errorf("the screen shows %q:\n%s", text, screen)
		}
		return nil
	})
}

func (s *steps) until(check func(screen string) error) {
	s.do(func() error {
		return harness.Await(s.ctx, patience, "the screen", func() error {
			screen, err := s.term.tmux(s.ctx, "capture-pane", "-p")
			if err != nil {
				return err
			}
			return check(screen)
		})
	})
}
