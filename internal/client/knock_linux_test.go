package client

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestStoppedSession: a session whose process is stopped is not waited for.
func TestStoppedSession(t *testing.T) {
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	c := answering(t, func(http.ResponseWriter, *http.Request) {})
	c.Session.PID = sleeper.Process.Pid
	if err := c.Stop(t.Context()); err != nil {
		t.Fatalf("one that runs: %v", err)
	}
	if err := sleeper.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !stopped(sleeper.Process.Pid) && t.Context().Err() == nil {
		time.Sleep(time.Millisecond) // the kernel takes its time
	}
	other := Over(c.Session)
	mends(t, other.Stop(t.Context()), "session shop is stopped", "kill -CONT")
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Over(c.Session).Stop(interrupted); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted before it is known that the session stays stopped: %v", err)
	}

	// A shell takes the terminal: the session goes on in a moment.
	time.AfterFunc(slowAfter/10, func() { _ = sleeper.Process.Signal(syscall.SIGCONT) })
	if err := Over(c.Session).Stop(t.Context()); err != nil {
		t.Errorf("one that was stopped for a moment: %v", err)
	}
}
