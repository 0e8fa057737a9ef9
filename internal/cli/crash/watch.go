// Package crash takes over what the Go runtime writes when the process crashes: by a panic on a goroutine that nothing guards, an error
// of the runtime itself, or a signal that asks for the stacks. No code of the process runs afterwards, so the text goes through a pipe to
// another process, the monitor: the same program with a hidden argument. It hides the values of Secrets, makes escape sequences harmless,
// and only then writes to the session's crash file and to standard error.
//
// The monitor gets the secrets through a second pipe and keeps them in memory. Every command has one: text of others reaches all of them, and
// a panic may quote it. While nothing crashes, the monitor waits in package standby.
//
// # Concurrency
//
// All functions may be called from any goroutine, but Stderr only before all others. One goroutine waits for the end of each monitor.
package crash

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/cli/standby"
	"github.com/hone-dev/hone/pkg/model"
)

// orders tell the monitor what to do about a crash.
type orders struct {
	// Secrets are hidden in the text.
	Secrets []model.Secret
	// File also gets the text; empty for none.
	File string
}

// watch is this process' side of the monitor.
type watch struct {
	mu sync.Mutex // guards all below
	// stderr is the standard error that the process was started with; nil if the program has not called Stderr.
	stderr *os.File
	orders orders
	// monitor is nil while there is none.
	monitor *monitor
}

// monitor is the process that waits for a crash.
type monitor struct {
	process *os.Process
	// text and control are the ends of the pipes to it.
	text, control *os.File
	// gone is closed after its end.
	gone chan struct{}
}

var theWatch watch

// Stderr separates the standard error of this program from the place where the Go runtime writes, and returns it. main must call it
// before anything uses os.Stderr. A program that does not call it, such as a test, has no monitor.
func Stderr() *os.File {
	f, err := separate()
	if err != nil {
		return os.Stderr
	}
	os.Stderr = f
	log.SetOutput(f)
	theWatch.mu.Lock()
	defer theWatch.mu.Unlock()
	theWatch.stderr = f
	return f
}

// Watch starts the monitor of this process, until end is called. If it cannot start, the next order tries again.
func Watch() (end func()) {
	_ = theWatch.order(func(*orders) (changed bool) { return true })
	return theWatch.end
}

// Record makes the text of a crash go to an existing file as well; an empty path ends that.
func Record(path string) error {
	return theWatch.order(func(o *orders) (changed bool) {
		changed, o.File = o.File != path, path
		return changed
	})
}

// Hide adds values to the secrets that the text of a crash does not show. A failure means that a crash would show them, so the
// caller has no better way to go on.
func Hide(secrets []model.Secret) {
	_ = theWatch.order(func(o *orders) (changed bool) {
		known := len(o.Secrets)
		for _, s := range secrets {
			if !slices.Contains(o.Secrets, s) {
				o.Secrets = append(o.Secrets, s)
			}
		}
		return len(o.Secrets) > known
	})
}

// order changes the orders and, if they have changed, sends them all, to a new monitor if there is none.
func (w *watch) order(change func(*orders) (changed bool)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !change(&w.orders) || w.stderr == nil {
		return nil
	}
	if w.monitor == nil {
		if err := w.start(); err != nil {
			return fmt.Errorf("watch for crashes: %w", err)
		}
	}
	if err := json.NewEncoder(w.monitor.control).Encode(w.orders); err != nil {
		return fmt.Errorf("watch for crashes: %w", err)
	}
	return nil
}

// start starts a monitor and lets the runtime write to it. mu must be held.
func (w *watch) start() error {
	program, err := process.OwnProgram()
	if err != nil {
		return err
	}
	textOut, text, err := os.Pipe()
	if err != nil {
		return err
	}
	defer textOut.Close()
	controlOut, control, err := os.Pipe()
	if err != nil {
		text.Close()
		return err
	}
	defer controlOut.Close()
	cmd := exec.Command(program, standby.Arg)
	cmd.Args[0] = os.Args[0]
	// The monitor reads from both: no other files reach a process on all systems.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = textOut, controlOut, w.stderr
	cmd.Dir = os.TempDir() // it must not keep the user's folder in use
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		text.Close()
		control.Close()
		return err
	}
	m := &monitor{cmd.Process, text, control, make(chan struct{})}
	w.monitor = m
	go func() {
		defer close(m.gone)
		_ = cmd.Wait()
		w.lost(m)
	}()
	return redirect(text)
}

// lost lets the runtime write to standard error after the end of a monitor, until the next orders start another one.
func (w *watch) lost(m *monitor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = redirect(w.stderr)
	m.text.Close()
	m.control.Close()
	w.monitor = nil
}

// end ends the monitor and waits for it: it would become a zombie where the first process adopts no others, as in many containers.
func (w *watch) end() {
	w.mu.Lock()
	m := w.monitor
	w.mu.Unlock()
	if m == nil {
		return
	}
	_ = m.process.Kill() // it may be stopped
	<-m.gone
}
