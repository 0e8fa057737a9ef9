package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ProbeFailure is the kubelet's report on a failing probe.
type ProbeFailure struct {
	Container string
	Kind      model.ProbeKind
	// Answer is the probe's result instead of a success: "HTTP probe failed with statuscode: 503".
	Answer string
	At     time.Time
	// Restarts is the number of restarts of the container before this failure. The reducer fills it in.
	Restarts int
}

// ProbeFailed reports that the probe of a container of a pod, by UID, fails.
type ProbeFailed struct {
	Pod     string
	Failure ProbeFailure
}

func init() {
	store.On(Pods, func(d *store.Draft[Pod], a ProbeFailed) {
		e := d.Ref(a.Pod)
		if e == nil {
			return
		}
		p, f := e.Value, a.Failure
		f.Restarts = restartsOf(p.Pod, f.Container)
		same := func(o ProbeFailure) bool { return o.Container == f.Container && o.Kind == f.Kind }
		p.Unhealthy = append(slices.DeleteFunc(slices.Clone(p.Unhealthy), same), f)
		d.PutOwned(e.ID, string(p.Resource), nil, p)
	})
}

// stillUnhealthy returns the probe failures that still apply in the pod's current state. A liveness probe may fail while
// the pod is ready, and ends a run of its container.
func stillUnhealthy(was []ProbeFailure, p model.Pod) []ProbeFailure {
	var out []ProbeFailure
	for _, f := range was {
		still := !p.Ready
		if f.Kind == model.ProbeLiveness {
			still = f.Restarts == restartsOf(p, f.Container)
		}
		if still {
			out = append(out, f)
		}
	}
	return out
}

func restartsOf(p model.Pod, container string) int {
	for _, c := range p.AllContainers() {
		if c.Name == container {
			return c.Restarts
		}
	}
	return 0
}

// NotReady returns why a pod is not ready, as far as known: the container, the probe that fails, and its answer. It is empty for
// a pod that is ready or whose containers give no reason.
func NotReady(p Pod) string {
	if p.Ready || p.Phase == "Succeeded" {
		return ""
	}
	if p.OfCompose() || p.Message != "" {
		return p.Message
	}
	for _, c := range p.AllContainers() {
		switch {
		case c.State == model.ContainerWaiting && c.Message != "":
			return describe("container "+c.Name, c.Reason, c.Message)
		case c.State != model.ContainerRunning:
		case c.Init && !c.Sidecar:
			return "container " + c.Name + " is still running, and the pod waits for its end"
		}
	}
	for _, c := range p.LastingContainers() {
		if c.State == model.ContainerRunning && (!c.Ready || !c.Started) {
			if why := failingProbe(p, c); why != "" {
				return why
			}
		}
	}
	return ""
}

// failingProbe describes the probe that keeps a running container from being ready.
func failingProbe(p Pod, c model.Container) string {
	kind := model.ProbeReadiness
	if _, has := c.Probe(model.ProbeStartup); has && !c.Started {
		kind = model.ProbeStartup
	}
	probe, has := c.Probe(kind)
	if !has {
		return ""
	}
	what := "container " + c.Name + ": "
	if !p.UnreadySince.IsZero() {
		what += "it was ready, and now its "
	}
	what += probe.String()
	switch f, failed := p.failure(c.Name, kind); {
	case failed:
		return what + " fails: " + f.Answer
	case !p.UnreadySince.IsZero():
		return what + " fails"
	}
	return what + " has not succeeded yet"
}

func (p Pod) failure(container string, kind model.ProbeKind) (ProbeFailure, bool) {
	i := slices.IndexFunc(p.Unhealthy, func(f ProbeFailure) bool { return f.Container == container && f.Kind == kind })
	if i < 0 {
		return ProbeFailure{}, false
	}
	return p.Unhealthy[i], true
}

// Trouble is PodFailure with the probe failures of the container: if the kubelet ends a container because its liveness or
// startup probe fails, the exit code alone does not tell why.
func Trouble(p Pod) (why string, failing bool) {
	why, failing = PodFailure(p.Pod)
	c, is := FailedContainer(p.Pod)
	if !failing || !is {
		return why, failing
	}
	for _, kind := range []model.ProbeKind{model.ProbeLiveness, model.ProbeStartup} {
		probe, has := c.Probe(kind)
		if f, failed := p.failure(c.Name, kind); has && failed && f.Restarts == c.Restarts {
			return why + "; " + probe.String() + " failed: " + f.Answer, true
		}
	}
	return why, failing
}
