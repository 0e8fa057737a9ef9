package processcontroller

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// probing keeps one prober running between the start and the end of a process. When the probe changes meanwhile, only the
// prober starts again.
type probing struct {
	run func(context.Context, *model.Probe) // called with nil if the resource has no probe

	mu      sync.Mutex
	spec    *model.Probe
	probers *workers.Set[struct{}, *model.Probe] // nil unless the process runs
}

// begin starts the prober of a process that has started.
func (p *probing) begin(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := func(a, b *model.Probe) bool { return reflect.DeepEqual(a, b) }
	p.probers = workers.NewSet(ctx, same, func(ctx context.Context, _ struct{}, spec *model.Probe) { p.run(ctx, spec) })
	p.apply()
}

// change replaces the probe.
func (p *probing) change(spec *model.Probe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spec = spec
	p.apply()
}

// apply makes the prober of a running process use the newest probe. mu is held.
func (p *probing) apply() {
	if p.probers != nil {
		p.probers.Want(map[struct{}]*model.Probe{{}: p.spec})
	}
}

// end stops the prober permanently and waits for it.
func (p *probing) end() {
	p.mu.Lock()
	probers := p.probers
	p.probers = nil
	p.mu.Unlock()
	if probers != nil {
		probers.Stop()
	}
}

// probe probes the server for readiness until ctx is done, and reports changes of the answer. A server without a probe is
// ready as soon as it runs. Probe commands get the server's own environment.
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

// ready reports the answer of a probe, unless the server is already being stopped.
func (i *instance) ready(a process.Answer) {
	i.change(func(p *state.Process) {
		if p.State != state.ProcessRunning {
			return
		}
		p.Ready, p.Detail, p.WasReady = a.Ready, a.Detail, p.WasReady || a.Ready
		switch {
		case a.OK:
			p.FailingSince = time.Time{}
		case a.Detail != "" && p.FailingSince.IsZero():
			p.FailingSince = i.now()
		}
		if a.Ready {
			p.Detail = ""
		}
	})
}
