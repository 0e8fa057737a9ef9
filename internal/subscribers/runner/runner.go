package runner

import (
	"context"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/pkg/model"
)

// Phase is the phase of a run.
type Phase uint8

// The phases of a run, in their order.
const (
	Starting Phase = iota
	Running
	Stopping // asked to end, which may take a while
	Ended
)

// State is the state of a run at one moment.
type State struct {
	Phase Phase
	// PID is zero before the process has started; it stays as it was after the end.
	PID   int
	Ready bool
	// Detail is why a running command is not ready, as far as its probe knows.
	Detail string
	// FailingSince is when the probe began to fail, as long as it has not made the command ready again; zero if it does not fail.
	// WasReady is set once the command has been ready.
	FailingSince time.Time
	WasReady     bool
}

// Run is one run of a command. Its fields are set before Do is called, which is called once.
type Run struct {
	Cmd model.Cmd
	// Env is added to the environment of the command, and of a probe that is a command.
	Env []string
	// Grace is the time between SIGTERM and SIGKILL; zero means process.DefaultServeGrace.
	Grace time.Duration
	// Output receives the output of the command, and Log the messages of hone about it. They are two loggers, so that a line that
	// the command has not finished yet stays whole.
	Output, Log logstore.Logger
	// Now is the clock.
	Now func() time.Time
	// Report receives the state each time that it changes. It must return at once.
	Report func(State)

	probing probing

	mu    sync.Mutex
	state State // guarded by mu, which is held while it is reported
}

// Probe sets the readiness probe; nil for none. It may be called at any time and on any goroutine: the command goes on, and only its
// prober starts again.
func (r *Run) Probe(spec *model.Probe) { r.probing.change(spec) }

// Do runs the command until it ends, or stops it when ctx is done. It returns the state at the end, which it does not report, and the
// error of process.Serve: nil for a command that was stopped, *process.ExitError for one that ended by itself.
func (r *Run) Do(ctx context.Context) (State, error) {
	told := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		defer close(told)
		r.change(func(s *State) {
			*s = s.over(Stopping)
		})
	})
	out := logstore.WriterAt(r.Output, logstore.LevelInfo)
	err := process.Serve(ctx, process.Command{Cmd: r.Cmd, ExtraEnv: r.Env, Stdout: out, Stderr: out, Grace: r.Grace}, process.Events{
		Started: func(st process.Started) {
			r.change(func(s *State) { s.Phase, s.PID = max(s.Phase, Running), st.PID })
			r.probing.begin(ctx, r.probe)
		},
		Exited:  func(process.Exited) { r.probing.end() },
		Message: func(text string) { logstore.Warnf(r.Log, "%s", text) },
	})
	r.probing.end()
	if !undo() {
		<-told
	}
	logstore.Flush(r.Output)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.over(Ended), err
}

// over returns the state of a run that is in a phase without readiness.
func (s State) over(in Phase) State {
	return State{Phase: in, PID: s.PID, WasReady: s.WasReady, FailingSince: s.FailingSince}
}

// change changes the state, and reports it.
func (r *Run) change(change func(*State)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
	r.Report(r.state)
}
