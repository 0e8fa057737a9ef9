package runner

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
	"github.com/hone-dev/hone/pkg/model"
)

// probing keeps one prober running between the start and the end of a process. When the probe changes meanwhile, only the
// prober starts again.
type probing struct {
	mu      sync.Mutex
	spec    *model.Probe
	probers *workers.Set[struct{}, *model.Probe] // nil unless the process runs
}

// begin starts the prober of a process that has started. run is called with nil if the command has no probe.
func (p *probing) begin(ctx context.Context, run func(context.Context, *model.Probe)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := func(a, b *model.Probe) bool { return reflect.DeepEqual(a, b) }
	p.probers = workers.NewSet(ctx, same, func(ctx context.Context, _ struct{}, spec *model.Probe) { run(ctx, spec) })
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

// end stops the prober permanently and waits for it. It may be called again, and without begin.
func (p *probing) end() {
	p.mu.Lock()
	probers := p.probers
	p.probers = nil
	p.mu.Unlock()
	if probers != nil {
		probers.Stop()
	}
}

// probe probes the command for readiness until ctx is done, and reports changes of the answer. A command without a probe is
// ready as soon as it runs. Probe commands get the command's own environment.
func (r *Run) probe(ctx context.Context, spec *model.Probe) {
	if spec == nil {
		r.ready(process.Answer{Ready: true})
		return
	}
	r.ready(process.Answer{})
	prober := process.Prober{Probe: *spec, ExtraEnv: slices.Concat(r.Env, r.Cmd.Env)}
	was := false
	err := prober.Run(ctx, func(a process.Answer) {
		say := logstore.Infof
		if was && !a.OK { // while it starts, failures are to be expected
			say = logstore.Warnf
		}
		say(r.Log, "[readiness probe: %s]", a)
		was = a.Ready
		r.ready(a)
	})
	if err != nil {
		logstore.Errorf(r.Log, "Readiness probe: %s", problem.Text(err))
		r.ready(process.Answer{Detail: problem.Text(err)})
	}
}

// ready reports the answer of a probe, unless the command is already being stopped.
func (r *Run) ready(a process.Answer) {
	r.change(func(s *State) {
		if s.Phase != Running {
			return
		}
		s.Ready, s.Detail, s.WasReady = a.Ready, a.Detail, s.WasReady || a.Ready
		switch {
		case a.OK:
			s.FailingSince = time.Time{}
		case a.Detail != "" && s.FailingSince.IsZero():
			s.FailingSince = r.Now()
		}
		if a.Ready {
			s.Detail = ""
		}
	})
}
