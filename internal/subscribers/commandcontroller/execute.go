package commandcontroller

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// execute executes a run to its end, or until ctx is done.
func (s *Subscriber) execute(ctx context.Context, rt *store.Runtime, r run) {
	name := r.command.Name
	span := fmt.Sprintf("cmd:%s:%d", name, r.command.Runs+1)
	log := s.logs.Logger(r.log, span, logstore.SourceRuntime)
	defer logstore.Flush(log)
	rt.Dispatch(state.CommandStarted{Name: name, Cause: r.cause, Span: span, Files: r.files, Made: r.made})
	logstore.Infof(log, "Running cmd: %s", r.command.Cmd)
	watcher := prober{subscriber: s, rt: rt, run: r, log: log}
	err := process.Serve(ctx, process.Command{
		Cmd: r.cmd(), ExtraEnv: s.env,
		Stdout: logstore.WriterAt(log, logstore.LevelInfo), Stderr: logstore.WriterAt(log, logstore.LevelInfo),
	}, process.Events{
		Started: func(st process.Started) { watcher.start(ctx, st.PID) },
		Exited:  func(process.Exited) { watcher.stop() },
		Message: func(text string) { logstore.Warnf(log, "%s", text) },
	})
	watcher.stop()
	end := state.CommandEnded{Name: name, Stopped: ctx.Err() != nil}
	var exit *process.ExitError
	switch {
	case end.Stopped:
		if err != nil {
			logstore.Errorf(log, "%s", problem.Text(err))
		}
	case errors.As(err, &exit):
		if end.ExitCode = exit.Code; exit.Code != 0 {
			end.Err = exit.Error()
			logstore.Errorf(log, "cmd %q ended: %s", name, end.Err)
		}
	case err != nil:
		end.Err = problem.Text(err)
		logstore.Errorf(log, "%s", end.Err)
	}
	rt.Dispatch(end)
}

// prober probes a running command for readiness, and reports that it runs.
type prober struct {
	subscriber *Subscriber
	rt         *store.Runtime
	run        run
	log        logstore.Logger
	cancel     context.CancelFunc
	all        sync.WaitGroup
}

// start reports a process, and probes it from now on if it has a probe.
func (p *prober) start(ctx context.Context, pid int) {
	ctx, p.cancel = context.WithCancel(ctx)
	spec := p.run.command.Readiness
	report := state.CommandReported{Name: p.run.command.Name, PID: pid, Ready: spec == nil}
	p.rt.Dispatch(report)
	if spec == nil {
		return
	}
	asks := process.Prober{Probe: *spec, ExtraEnv: p.subscriber.env}
	p.all.Go(func() {
		err := asks.Run(ctx, func(a process.Answer) {
			logstore.Infof(p.log, "[readiness probe: %s]", a)
			report.Ready = a.Ready
			p.rt.Dispatch(report)
		})
		if err != nil && ctx.Err() == nil {
			logstore.Errorf(p.log, "Readiness probe: %s", problem.Text(err))
		}
	})
}

// stop ends the probing and waits. It may be called again, and without start.
func (p *prober) stop() {
	if p.cancel != nil {
		p.cancel()
	}
	p.all.Wait()
}
