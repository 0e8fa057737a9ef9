package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// runtimeCells returns the status of the runtime, in full and in one word.
func (b *builder) runtimeCells(s *status.Resource) (full, short Cell) {
	m, rs, pods := *s.Manifest, s.Reported, b.pods[s.Manifest.Name].Values()
	if r := state.Restarts.In(b.v).Value(string(m.Name)); r.Running() {
		b.changesIn(time.Second)
		return Cell{{"restarting", Accent}, {"  " + Elapsed(b.now.Sub(r.RequestedAt)), Plain}}, Cell{{"restart", Accent}}
	}
	switch rs.Status {
	case buildcontrol.RuntimeNone, buildcontrol.RuntimeNotApplicable:
		return none, none
	case buildcontrol.RuntimeError:
		return b.failed(s)
	case buildcontrol.RuntimeUnknown, buildcontrol.RuntimeOK, buildcontrol.RuntimePending: // in words, below
	}
	if s.Relapse != nil {
		return b.relapsing(*s.Relapse)
	}
	long, word := status.Words(rs.Text)
	tone := Plain
	if rs.Status != buildcontrol.RuntimeOK {
		tone = Warn
	}
	full, short = Cell{{long, tone}}, Cell{{word, tone}}
	if p, ok := b.process(m); ok && p.State == state.ProcessRunning {
		full[0].Text += ", " + Age(p.StartedAt, b.now)
	}
	if s.Pods.Restarts > 0 {
		full = append(full, Span{fmt.Sprintf("  ↻%d", s.Pods.Restarts), Dim})
	}
	if why := b.pendingBecause(m, pods, rs); why != "" {
		full = append(full, Span{"  " + why, Dim})
	}
	replaced := s.Updates.Current != nil && !inPlace(s.Updates.Current.Mode) // soon
	if replaced && rs.Status == buildcontrol.RuntimeOK && rs.Text != "applied" {
		full = append(full, Span{" (previous)", Dim})
	}
	return full, short
}

// relapsing describes a container that runs again, in a crash loop.
func (b *builder) relapsing(loop status.Relapse) (full, short Cell) {
	b.changesIn(time.Second)
	c := loop.Container
	why := containerCause(loop.Pod, lastRun(c), nil)
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

// failed describes a failure: the reason, the number of restarts, the exit code, and the number of ready pods if there are
// several.
func (b *builder) failed(s *status.Resource) (full, short Cell) {
	full, short = b.failure(*s.Manifest, s.Reported)
	if s.Pods.Count > 1 {
		full = append(full, Span{fmt.Sprintf("  %d/%d ready", s.Pods.Ready, s.Pods.Count), Plain})
	}
	return full, short
}

func (b *builder) failure(m model.Manifest, rs buildcontrol.RuntimeState) (full, short Cell) {
	pod, _ := b.failing(rs)
	long, word := status.Words(cmp.Or(rs.Text, "failed"))
	if refused, is := refusedCause(rs.Err); is {
		long, word = refused.title, "refused"
	} else if why, known := b.shortCause(m, pod); known {
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
	if _, failing := state.PodFailure(pod.Pod); !failing {
		return full, short
	}
	for _, c := range pod.AllContainers() {
		if code := cmp.Or(c.ExitCode, c.LastExitCode); code != 0 {
			if pod.OfCompose() && strings.Contains(rs.Text, fmt.Sprintf("code %d", code)) {
				break
			}
			return append(full, Span{fmt.Sprintf("  exit %d", code), Bad}), short
		}
	}
	return full, short
}

// failing returns the pod that a state of the runtime is about.
func (b *builder) failing(rs buildcontrol.RuntimeState) (state.Pod, bool) {
	pods := state.Pods.In(b.v)
	return pods.Value(rs.Pod), pods.Ref(rs.Pod) != nil
}

// failedContainer returns the container that makes a pod fail, and whether the pod fails.
func failedContainer(pod state.Pod) (model.Container, bool) {
	if _, failing := state.PodFailure(pod.Pod); !failing {
		return model.Container{}, false
	}
	return state.FailedContainer(pod.Pod)
}

// pendingBecause returns why a runtime is not ready yet, in few words; empty if it is ready, or if the reason is unknown. The
// name of the pod has a column of its own.
func (b *builder) pendingBecause(m model.Manifest, pods []state.Pod, rs buildcontrol.RuntimeState) string {
	if rs.Status == buildcontrol.RuntimeOK {
		return ""
	}
	events := state.ClusterEvents.In(b.v).Value(string(m.Name)).List
	for _, p := range state.Present(pods) {
		if c, _, is := b.stuck(p, events); is && c.title != "" {
			return c.brief()
		}
	}
	if rs.Err == rs.Text {
		return ""
	}
	pod, _ := b.failing(rs)
	return strings.TrimPrefix(rs.Err, "pod "+pod.Name+": ")
}

// shortCause returns why a container has failed, in a few words, where that says more than its status.
func (b *builder) shortCause(m model.Manifest, pod state.Pod) (cause, bool) {
	c, is := failedContainer(pod)
	if !is || pod.OfCompose() {
		return cause{}, false
	}
	why := containerCause(pod, c, state.ClusterEvents.In(b.v).Value(string(m.Name)).List)
	return why, why.title != ""
}

func (b *builder) process(m model.Manifest) (state.Process, bool) {
	if !m.IsLocal() {
		return state.Process{}, false
	}
	rows := state.Processes.In(b.v)
	return rows.Value(string(m.Name)), rows.Ref(string(m.Name)) != nil
}
