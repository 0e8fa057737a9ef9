package processcontroller

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// probing keeps one prober running between the start and the end of a process. The probe may change meanwhile: only the
// asking starts over then.
type probing struct {
	run func(context.Context, *model.Probe) // called with nil where there is nothing to ask

	mu    sync.Mutex
	spec  *model.Probe
	alive bool
	stop  context.CancelFunc // nil unless a prober runs
	done  chan struct{}
}

// begin starts the prober of a process that has started.
func (p *probing) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive = true
	p.start()
}

// end stops the prober for good and waits for it.
func (p *probing) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive = false
	p.halt()
}

// change replaces the probe.
func (p *probing) change(spec *model.Probe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reflect.DeepEqual(spec, p.spec) {
		return
	}
	p.halt()
	p.spec = spec
	if p.alive {
		p.start()
	}
}

// start runs the prober; mu is held.
func (p *probing) start() {
	ctx, stop := context.WithCancel(context.Background())
	done, spec := make(chan struct{}), p.spec
	p.stop, p.done = stop, done
	go func() {
		defer close(done)
		defer stop()
		p.run(ctx, spec)
	}()
}

// halt stops the prober and waits for it; mu is held.
func (p *probing) halt() {
	if p.stop == nil {
		return
	}
	p.stop()
	<-p.done
	p.stop = nil
}

// probe asks the server whether it is ready until ctx is done, and tells when the answer changes. A server without a
// probe is ready as soon as it runs. Commands that ask get the server's own environment.
func (i *instance) probe(ctx context.Context, spec *model.Probe) {
	if spec == nil {
		i.ready(process.Answer{Ready: true})
		return
	}
	i.ready(process.Answer{})
	prober := process.Prober{Probe: *spec, ExtraEnv: slices.Concat(i.env, i.wish.serve.Env)}
	was := false
	err := prober.Run(ctx, func(a process.Answer) {
		say := logstore.Infof
		if was && !a.OK { // while it starts, failures are to be expected
			say = logstore.Warnf
		}
		say(i.log, "[readiness probe: %s]", a)
		was = a.Ready
		i.ready(a)
	})
	if err != nil {
		logstore.Errorf(i.log, "Readiness probe: %s", problem.Text(err))
		i.ready(process.Answer{Detail: problem.Text(err)})
	}
}

// ready tells what a probe has found out, unless the server is already being stopped.
func (i *instance) ready(a process.Answer) {
	i.change(func(p *state.Process) {
		if p.State != state.ProcessRunning {
			return
		}
		p.Ready, p.Detail = a.Ready, a.Detail
		if a.Ready {
			p.Detail = ""
		}
	})
}
