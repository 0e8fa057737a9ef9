package processcontroller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// instance is one run of a server.
type instance struct {
	wish wish
	env  []string
	// output gets what the server writes. log gets what hone says, and is a logger of its own, so that a line which the
	// server has not finished yet stays whole.
	output, log logstore.Logger
	tell        func(state.Process)
	cancel      context.CancelFunc
	done        chan struct{} // closed when the process, its group and its prober are gone

	mu sync.Mutex
	p  state.Process // guarded by mu, which is held while it is told

	probing probing
}

// start runs a server until it ends or stop is called.
func (s *Subscriber) start(resource model.ManifestName, w wish, tell func(state.Process)) *instance {
	logger := func() logstore.Logger {
		return s.logs.Logger(resource, fmt.Sprintf("serve:%s:%d", resource, w.build), logstore.SourceRuntime)
	}
	i := &instance{wish: w, env: s.env, output: logger(), log: logger(), tell: tell, done: make(chan struct{}),
		p: state.Process{Resource: resource, State: state.ProcessStarting, StartedAt: s.now(), Build: w.build}}
	i.probing = probing{spec: w.probe, run: i.probe}
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	i.change(func(*state.Process) {})
	if !w.serve.EchoOff {
		logstore.Infof(i.log, "Running serve cmd: %s", w.serve)
	}
	go func() {
		defer close(i.done)
		defer cancel()
		err := i.serve(ctx, s.grace)
		i.probing.end()
		logstore.Flush(i.output)
		i.ended(ctx.Err() != nil, err)
	}()
	return i
}

// stop ends the server and waits until all of it is gone.
func (i *instance) stop() {
	i.change(func(p *state.Process) {
		if p.State == state.ProcessStarting || p.State == state.ProcessRunning {
			p.State, p.Ready, p.Detail = state.ProcessStopping, false, ""
		}
	})
	i.cancel()
	<-i.done
}

// change changes what is known of the process, and tells it.
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
			i.probing.begin()
		},
		Message: func(text string) { logstore.Warnf(i.log, "%s", text) },
	})
}

// ended tells how the server ended. One that was not asked to has failed, whatever its exit code.
func (i *instance) ended(asked bool, err error) {
	if asked {
		if err != nil {
			logstore.Errorf(i.log, "Server did not stop well: %s", problem.Text(err))
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
	logstore.Errorf(i.log, "Server exited: %s\nThe next update starts it again: change a file, or trigger it.", text)
	i.change(func(p *state.Process) {
		p.State, p.Ready, p.PID, p.Detail, p.ExitCode, p.Err = state.ProcessFailed, false, 0, "", code, text
	})
}
