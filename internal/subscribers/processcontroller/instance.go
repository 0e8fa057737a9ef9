package processcontroller

import (
	"context"
	"errors"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/subscribers/runner"
	"github.com/hone-dev/hone/pkg/model"
)

// instance is one run of a server. The resource's next instance begins when this one is completely gone, since they use the
// same port.
type instance struct {
	target   target
	resource model.ManifestName
	server   runner.Run
	started  time.Time
	tell     func(state.Process)
}

// newInstance returns a server that has not started yet.
func (s *Subscriber) newInstance(resource model.ManifestName, w target, tell func(state.Process)) *instance {
	logger := func() logstore.Logger {
		return s.logs.Logger(resource, state.ServeSpan(resource, w.build), logstore.SourceRuntime)
	}
	i := &instance{target: w, resource: resource, tell: tell}
	i.server = runner.Run{Cmd: w.serve, Env: s.env, Grace: s.grace, Output: logger(), Log: logger(), Now: s.now,
		Report: func(now runner.State) { tell(i.process(now)) }}
	return i
}

// states are the states of a server by the phase of its run, as long as it has not ended.
var states = map[runner.Phase]state.ProcessState{runner.Starting: state.ProcessStarting, runner.Running: state.ProcessRunning, runner.Stopping: state.ProcessStopping}

// process returns the state of the server.
func (i *instance) process(now runner.State) state.Process {
	return state.Process{Resource: i.resource, State: states[now.Phase], PID: now.PID, Ready: now.Ready, Detail: now.Detail, WasReady: now.WasReady,
		FailingSince: now.FailingSince, StartedAt: i.started, Build: i.target.build, Restart: i.target.restart}
}

// run runs the server until it ends, or stops it when ctx is done. When it returns, the process, its group and its prober are
// gone.
func (i *instance) run(ctx context.Context) {
	i.started = i.server.Now()
	i.tell(i.process(runner.State{}))
	if !i.target.serve.EchoOff {
		logstore.Infof(i.server.Log, "Running serve cmd: %s", i.target.serve)
	}
	last, err := i.server.Do(ctx)
	p := i.process(last)
	p.State, p.PID = state.ProcessStopped, 0
	switch asked := ctx.Err() != nil; {
	case !asked:
		p.State = state.ProcessFailed
		p.ExitCode, p.Err = failure(err)
		logstore.Errorf(i.server.Log, "Server exited: %s\nThe next update starts it again: change a file, trigger it, or restart it.", p.Err)
	case err != nil:
		logstore.Errorf(i.server.Log, "Server did not stop cleanly: %s", problem.Text(err))
	}
	i.tell(p)
}

// failure returns the exit code of a server that was not asked to stop, and its end in words. Such a server has failed, whatever its exit
// code.
func failure(err error) (code int, text string) {
	var exit *process.ExitError
	switch {
	case !errors.As(err, &exit):
		return -1, "serve_cmd did not start: " + problem.Text(err)
	case exit.Signal != "":
		return exit.Code, "serve_cmd was " + exit.Error()
	case exit.Code == 0:
		return 0, "serve_cmd ended: " + exit.Error() + ", but a server should keep running"
	}
	return exit.Code, "serve_cmd ended: " + exit.Error()
}
