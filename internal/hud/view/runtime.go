package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// statusWords are Kubernetes' reasons in words that fit into a column: a long form, and a single word.
var statusWords = map[string][2]string{
	"CrashLoopBackOff":           {"crash loop", "crash"},
	"ImagePullBackOff":           {"image cannot be pulled", "pull"},
	"ErrImagePull":               {"image cannot be pulled", "pull"},
	"ErrImageNeverPull":          {"image is not on the node", "pull"},
	"InvalidImageName":           {"invalid image name", "image"},
	"OOMKilled":                  {"out of memory", "memory"},
	"CreateContainerConfigError": {"container config is wrong", "config"},
	"CreateContainerError":       {"container cannot be created", "create"},
	"RunContainerError":          {"container cannot run", "run"},
	"ContainerCannotRun":         {"container cannot run", "run"},
	"StartError":                 {"container cannot start", "start"},
	"ContainerCreating":          {"creating", "create"},
	"PodInitializing":            {"initializing", "init"},
	"Pending":                    {"pending", "pending"},
	"Running":                    {"starting", "start"},
	"Error":                      {"error", "error"},
}

// runtimeCells returns the status of the runtime, in full and in one word.
func (b *builder) runtimeCells(m model.Manifest, u state.Update, pods []state.Pod, rs buildcontrol.RuntimeState) (full, short Cell) {
	if r := state.Restarts.In(b.v).Value(string(m.Name)); r.Running() {
		b.changesIn(time.Second)
		return Cell{{"restarting", Accent}, {"  " + Elapsed(b.now.Sub(r.RequestedAt)), Plain}}, Cell{{"restart", Accent}}
	}
	switch rs.Status {
	case buildcontrol.RuntimeNone, buildcontrol.RuntimeNotApplicable:
		return none, none
	case buildcontrol.RuntimeError:
		return b.failed(m, pods, rs)
	case buildcontrol.RuntimeUnknown, buildcontrol.RuntimeOK, buildcontrol.RuntimePending: // in words, below
	}
	if loop, looping := b.relapses[m.Name]; looping {
		return b.relapsing(loop)
	}
	long, word := inWords(rs.Text)
	tone := Plain
	if rs.Status != buildcontrol.RuntimeOK {
		tone = Warn
	}
	full, short = Cell{{long, tone}}, Cell{{word, tone}}
	if p, ok := b.process(m); ok && p.State == state.ProcessRunning {
		full[0].Text += ", " + Age(p.StartedAt, b.now)
	}
	if _, _, restarts := standing(pods); restarts > 0 {
		full = append(full, Span{fmt.Sprintf("  ↻%d", restarts), Dim})
	}
	if why := b.pendingBecause(m, pods, rs); why != "" {
		full = append(full, Span{"  " + why, Dim})
	}
	if u.Current != nil && rs.Status == buildcontrol.RuntimeOK && rs.Text != "applied" && !inPlace(u.Current.Mode) {
		full = append(full, Span{" (previous)", Dim})
	}
	return full, short
}

// relapse is a container that runs again, in a crash loop.
type relapse struct {
	pod       state.Pod
	container model.Container
}

// relapse returns the container of a resource that is well for the moment, between the failures of a crash loop.
func (b *builder) relapse(pods []state.Pod, rs buildcontrol.RuntimeState) (relapse, bool) {
	if rs.Status != buildcontrol.RuntimeOK && rs.Status != buildcontrol.RuntimePending {
		return relapse{}, false
	}
	for _, p := range pods {
		if !p.Current || p.Deleting || p.OfCompose() {
			continue
		}
		if c, left, looping := state.Relapse(p, b.now); looping {
			b.changesIn(min(left, time.Second))
			return relapse{p, c}, true
		}
	}
	return relapse{}, false
}

// relapsing describes a container that runs again, in a crash loop.
func (b *builder) relapsing(loop relapse) (full, short Cell) {
	c := loop.container
	why := containerCause(loop.pod, lastRun(c), nil)
	title, word := cmp.Or(why.title, "crash loop"), cmp.Or(why.word, "crash")
	return Cell{{fmt.Sprintf("%s ×%d", title, c.Restarts), Warn}, {"  runs again, " + Elapsed(b.now.Sub(c.StartedAt)), Dim}},
		Cell{{fmt.Sprintf("%s ×%d", word, c.Restarts), Warn}}
}

// lastRun returns a container as it was after the run before the current one.
func lastRun(c model.Container) model.Container {
	c.State, c.Reason, c.Message, c.ExitCode, c.ID = model.ContainerTerminated, c.LastReason, c.LastMessage, c.LastExitCode, c.LastID
	c.StartedAt, c.FinishedAt = c.LastStartedAt, c.LastFinishedAt
	return c
}

// failed describes a failure: the reason, the number of restarts, the exit code, and how many of several pods are ready.
func (b *builder) failed(m model.Manifest, pods []state.Pod, rs buildcontrol.RuntimeState) (full, short Cell) {
	full, short = b.failure(m, pods, rs)
	ready := 0
	for _, p := range pods {
		if p.Current && !p.Deleting && p.Ready {
			ready++
		}
	}
	if _, n, _ := standing(pods); n > 1 {
		full = append(full, Span{fmt.Sprintf("  %d/%d ready", ready, n), Plain})
	}
	return full, short
}

func (b *builder) failure(m model.Manifest, pods []state.Pod, rs buildcontrol.RuntimeState) (full, short Cell) {
	long, word := inWords(cmp.Or(rs.Text, "failed"))
	if refused, is := refusedCause(rs.Err); is {
		long, word = refused.title, "refused"
	} else if why, known := b.shortCause(m, pods); known {
		_, restarts, again := strings.Cut(long, "×")
		long, word = why.title, cmp.Or(why.word, word)
		if again {
			long += " ×" + restarts
		}
		if again && why.word != "" {
			word += " ×" + restarts
		}
	}
	full, short = Cell{{long, Bad}}, Cell{{word, Bad}}
	if p, ok := b.process(m); ok && p.State == state.ProcessFailed && p.ExitCode >= 0 {
		return append(full, Span{fmt.Sprintf("  exit %d", p.ExitCode), Bad}), short
	}
	for _, p := range pods {
		if _, failing := state.PodFailure(p.Pod); !failing || !p.Current {
			continue
		}
		for _, c := range p.AllContainers() {
			if code := cmp.Or(c.ExitCode, c.LastExitCode); code != 0 {
				if p.OfCompose() && strings.Contains(rs.Text, fmt.Sprintf("code %d", code)) {
					break
				}
				return append(full, Span{fmt.Sprintf("  exit %d", code), Bad}), short
			}
		}
	}
	return full, short
}

// pendingBecause returns why a runtime is not ready yet, in few words; empty if it is, or if that is not known. The name of the pod
// has a column of its own.
func (b *builder) pendingBecause(m model.Manifest, pods []state.Pod, rs buildcontrol.RuntimeState) string {
	if rs.Status == buildcontrol.RuntimeOK {
		return ""
	}
	events := state.ClusterEvents.In(b.v).Value(string(m.Name)).List
	for _, p := range pods {
		if !p.Current || p.Deleting {
			continue
		}
		if c, _, is := b.stuck(p, events); is && c.title != "" {
			return c.brief()
		}
	}
	if rs.Err == rs.Text {
		return ""
	}
	if len(pods) > 0 {
		return strings.TrimPrefix(rs.Err, "pod "+pods[0].Name+": ")
	}
	return rs.Err
}

// shortCause returns why a container has failed, in a few words, where that says more than its status.
func (b *builder) shortCause(m model.Manifest, pods []state.Pod) (cause, bool) {
	for _, p := range pods {
		c, is := state.FailedContainer(p.Pod)
		if _, failing := state.PodFailure(p.Pod); !failing || !is || !p.Current || p.OfCompose() {
			continue
		}
		why := containerCause(p, c, state.ClusterEvents.In(b.v).Value(string(m.Name)).List)
		return why, why.title != ""
	}
	return cause{}, false
}

func (b *builder) process(m model.Manifest) (state.Process, bool) {
	if !m.IsLocal() {
		return state.Process{}, false
	}
	e, ok := state.Processes.In(b.v).Get(string(m.Name))
	return e.Value, ok
}

// inWords translates a runtime text, whose first word may be a Kubernetes reason, and also shortens it to one word.
func inWords(s string) (long, short string) {
	first, rest, _ := strings.Cut(s, " ")
	if w, ok := statusWords[first]; ok {
		long, short = w[0], w[1]
		if rest != "" {
			long, short = long+" "+rest, short+" "+rest
		}
		return long, short
	}
	switch {
	case s == "completed":
		return s, "done"
	case first == "running" && rest != "":
		return s, rest
	case first == "pid" && strings.HasSuffix(s, "not ready"):
		return s, "not ready"
	case first == "pid":
		return s, "up"
	case s == "rolling out":
		return s, "rollout"
	}
	return s, s
}
