package processcontroller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// instance is one run of a server. The resource's next instance begins when this one is completely gone, since they use the
// same port.
type instance struct {
	wish wish
	env  []string
	// output receives the server's output. log receives hone's messages, and is a separate logger, so that a line that the
	// server has not finished yet stays whole.
	output, log logstore.Logger
	tell        func(state.Process)
	now         func() time.Time

	mu sync.Mutex
	p  state.Process // guarded by mu, which is held while it is reported

	probing probing
}

// newInstance returns a server that has not started yet.
func (s *Subscriber) newInstance(resource model.ManifestName, w wish, tell func(state.Process)) *instance {
	logger := func() logstore.Logger {
		return s.logs.Logger(resource, state.ServeSpan(resource, w.build), logstore.SourceRuntime)
	}
	i := &instance{wish: w, env: s.env, now: s.now, output: logger(), log: logger(), tell: tell,
		p: state.Process{Resource: resource, State: state.ProcessStarting, Build: w.build, Restart: w.restart}}
	i.probing.run = i.probe
	return i
}

// run runs the server until it ends, or stops it when ctx is done. When it returns, the process, its group and its prober are
// gone.
func (i *instance) run(ctx context.Context, grace time.Duration) {
	i.change(func(p *state.Process) { p.StartedAt = i.now() })
	if !i.wish.serve.EchoOff {
		logstore.Infof(i.log, "Running serve cmd: %s", i.wish.serve)
	}
	told := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		defer close(told)
		i.stopping()
	})
	err := i.serve(ctx, grace)
	i.probing.end()
	if !undo() {
		<-told
	}
	logstore.Flush(i.output)
	i.ended(ctx.Err() != nil, err)
}

// stopping reports that the server is being stopped.
func (i *instance) stopping() {
	i.change(func(p *state.Process) {
		if p.State == state.ProcessStarting || p.State == state.ProcessRunning {
			p.State, p.Ready, p.Detail = state.ProcessStopping, false, ""
		}
	})
}

// change changes the state of the process, and reports it.
func (i *instance) change(change func(*state.Process)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.p)
	i.tell(i.p)
}

func (i *instance) serve(ctx context.Context, grace time.Duration) error {
	out := logstore.WriterAt(i.output, logstore.LevelInfo)
	return process.Serve(ctx, process.Command{Cmd: i.wish.serve, ExtraEnv: i.env, Stdout: out, Stderr: out, Grace: grace}, process.Events{
		Started: func(st process.Started) {
			i.change(func(p *state.Process) {
				p.PID = st.PID
				if p.State == state.ProcessStarting {
					p.State = state.ProcessRunning
				}
			})
			i.probing.begin(ctx)
		},
		Message: func(text string) { logstore.Warnf(i.log, "%s", text) },
	})
}

// ended reports how the server ended. A server that was not asked to stop has failed, whatever its exit code.
func (i *instance) ended(asked bool, err error) {
	if asked {
		if err != nil {
			logstore.Errorf(i.log, "Server did not stop cleanly: %s", problem.Text(err))
		}
		i.change(func(p *state.Process) { p.State, p.Ready, p.PID, p.Detail = state.ProcessStopped, false, 0, "" })
		return
	}
	code, text := -1, "serve_cmd did not start: "+problem.Text(err)
	var exit *process.ExitError
	if errors.As(err, &exit) {
		code, text = exit.Code, "serve_cmd ended: "+exit.Error()
		switch {
		case exit.Signal != "":
			text = "serve_cmd was " + exit.Error()
		case code == 0:
			text += ", but a server should keep running"
		}
	}
	logstore.Errorf(i.log, "Server exited: %s\nThe next update starts it again: change a file, trigger it, or restart it.", text)
	i.change(func(p *state.Process) {
		p.State, p.Ready, p.PID, p.Detail, p.ExitCode, p.Err = state.ProcessFailed, false, 0, "", code, text
	})
}
