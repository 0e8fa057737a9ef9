package commandcontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/runner"
)

// execute executes a run to its end, or until ctx is done.
func (s *Subscriber) execute(ctx context.Context, rt *store.Runtime, r run) {
	name := r.command.Name
	span := fmt.Sprintf("cmd:%s:%d", name, r.command.Runs+1)
	logger := func() logstore.Logger { return s.logs.Logger(r.log, span, logstore.SourceRuntime) }
	command := runner.Run{Cmd: r.cmd(), Env: s.env, Output: logger(), Log: logger(), Now: time.Now,
		Report: func(now runner.State) {
			if now.Phase == runner.Running {
				rt.Dispatch(state.CommandReported{Name: name, PID: now.PID, Ready: now.Ready})
			}
		}}
	command.Probe(r.command.Readiness)
	rt.Dispatch(state.CommandStarted{Name: name, Cause: r.cause, Span: span, Files: r.files, Made: r.made})
	logstore.Infof(command.Log, "Running cmd: %s", r.command.Cmd)
	_, err := command.Do(ctx)
	end := state.CommandEnded{Name: name, Stopped: ctx.Err() != nil}
	var exit *process.ExitError
	switch {
	case err == nil:
	case !errors.As(err, &exit): // it did not start, or did not stop cleanly
		logstore.Errorf(command.Log, "%s", problem.Text(err))
		if !end.Stopped {
			end.Err = problem.Text(err)
		}
	case exit.Code != 0:
		end.ExitCode, end.Err = exit.Code, exit.Error()
		logstore.Errorf(command.Log, "cmd %q ended: %s", name, end.Err)
	}
	rt.Dispatch(end)
}
