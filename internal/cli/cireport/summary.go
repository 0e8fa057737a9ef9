package cireport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// The results of a resource.
const (
	statusOK         = "ok"
	statusFailed     = "failed"
	statusUnfinished = "unfinished"
	statusSkipped    = "skipped"
)

// The results of a session, as scripts see them.
const (
	ResultOK          = "ok"
	ResultFailed      = "failed"
	ResultTimeout     = "timeout"
	ResultTiltfile    = "tiltfile-error"
	ResultInterrupted = "interrupted"
	ResultStopped     = "stopped"
)

// Outcome is how a session ended.
type Outcome struct {
	// Result is one of the results above, and Code is the exit code of the process.
	Result string
	Code   int
	// Failure is why it failed, with the mend if one is known.
	Failure string
	At      time.Time
	// Tiltfile is the path, for a session that could not begin.
	Tiltfile string
}

// Summarize returns the summary of a session, without secrets. The view is that of its end, before anything was stopped.
func Summarize(v store.View, t *Tally, o Outcome) api.Summary {
	session := state.TheSession(v)
	out := api.Summary{Result: o.Result, ExitCode: o.Code, Failure: o.Failure, Tiltfile: cmp.Or(session.Tiltfile, o.Tiltfile), StartedAt: session.StartedAt,
		Missed: t.missed, Resources: []api.ResourceSummary{tiltfile(v, t.of(string(model.TiltfileName)), o)}}
	if !session.StartedAt.IsZero() {
		out.TookMs = lasted(session.StartedAt, o.At)
	}
	holds := buildcontrol.Decide(v, nil).Holds
	pods := state.PodsByResource(v)
	for _, e := range state.Ordered(v) {
		s := subject{view: v, entry: e, counts: t.of(e.ID), outcome: o, ended: session.Ended}
		if u, ok := state.Updates.In(v).Get(e.ID); ok {
			s.update, s.declared = u.Value, u.Created
		}
		s.pods = pods[e.Value.Manifest.Name]
		s.runtime = buildcontrol.Runtime(v, e.Value.Manifest, s.update, s.pods)
		s.hold, s.held = holds[e.Value.Manifest.Name]
		out.Resources = append(out.Resources, s.summary())
	}
	for e := range state.Disabled(v) {
		out.Resources = append(out.Resources, api.ResourceSummary{Name: e.ID, Type: string(e.Value.Manifest.DeployID().Type), Status: statusSkipped,
			Skipped: "disabled", UpdateStatus: "none", RuntimeStatus: string(buildcontrol.RuntimeNone)})
	}
	return redacted(out, redact.Of(v))
}

// redacted returns a summary without secrets.
func redacted(s api.Summary, r *redact.Redactor) api.Summary {
	doc, err := json.Marshal(s)
	if err != nil {
		return api.Summary{Result: s.Result, ExitCode: s.ExitCode} // no type of the schema can fail
	}
	var out api.Summary
	if json.Unmarshal(r.JSON(doc), &out) != nil {
		return api.Summary{Result: s.Result, ExitCode: s.ExitCode}
	}
	return out
}

// tiltfile returns the summary of the Tiltfile itself.
func tiltfile(v store.View, c *counts, o Outcome) api.ResourceSummary {
	t := state.TheTiltfile(v)
	out := api.ResourceSummary{Name: string(model.TiltfileName), Type: "tiltfile", Status: statusUnfinished, UpdateStatus: "pending",
		RuntimeStatus: string(buildcontrol.RuntimeNotApplicable), Builds: t.Runs}
	switch {
	case t.Running():
		out.UpdateStatus, out.TookMs = "in_progress", lasted(t.StartedAt, o.At)
	case t.Err != "":
		out.Status, out.UpdateStatus = statusFailed, "error"
		out.Problem = cmp.Or(c.problem, problemOf(t.Err))
	case t.Good:
		out.Status, out.UpdateStatus = statusOK, "ok"
	}
	if !t.StartedAt.IsZero() && !t.FinishedAt.IsZero() {
		out.TookMs = events.Ms(t.FinishedAt.Sub(t.StartedAt))
	}
	out.BuildMs = out.TookMs
	return out
}

// subject is all that is known about a resource at the end.
type subject struct {
	view     store.View
	entry    *store.Entry[state.Resource]
	update   state.Update
	declared time.Time
	pods     []state.Pod
	runtime  buildcontrol.RuntimeState
	hold     buildcontrol.Hold
	held     bool
	counts   *counts
	outcome  Outcome
	ended    *state.Ending
}

func (s *subject) summary() api.ResourceSummary {
	m, u, c := &s.entry.Value.Manifest, &s.update, s.counts
	out := api.ResourceSummary{Name: s.entry.ID, Type: string(m.DeployID().Type), UpdateStatus: buildcontrol.UpdateStatus(*u),
		RuntimeStatus: string(s.runtime.Status), Builds: c.builds, BuildMs: c.building, Restarts: s.restarts()}
	if !m.AutoInit && u.Serial == 0 && u.Triggered.IsZero() {
		out.Status, out.Skipped = statusSkipped, "manual"
		return out
	}
	out.Status, out.Problem = s.status()
	out.TookMs = c.ready
	if !c.wasReady && !s.declared.IsZero() {
		out.TookMs = lasted(s.declared, s.outcome.At)
	}
	if u.Current != nil {
		out.BuildMs += events.Ms(u.Current.Duration(s.outcome.At))
	}
	out.Waits = c.until(s.outcome.At, out.Status == statusOK, cmp.Or(s.runtime.Err, s.runtime.Text))
	return out
}

// status returns the result of the resource, and its problem if it has one.
func (s *subject) status() (string, *api.ProblemEvent) {
	m, u := &s.entry.Value.Manifest, &s.update
	last, built := u.Last()
	switch {
	case built && last.Err != "":
		return statusFailed, cmp.Or(s.counts.problem, problemOf(last.Err))
	case s.runtime.Status == buildcontrol.RuntimeError:
		return statusFailed, problemOf(s.runtime.Err)
	case s.ended != nil && s.ended.Resource == m.Name && s.ended.Failure != "":
		p := problemOf(s.ended.Failure)
		p.Mend, p.Detail = p.Detail, "" // a failure that ends the session has no detail, only a mend
		return statusFailed, p
	case u.Succeeded && u.Current == nil && u.Triggered.IsZero() && s.runtime.Status.Settled():
		return statusOK, nil
	}
	return statusUnfinished, &api.ProblemEvent{Summary: s.unfinished()}
}

// unfinished describes what was still missing.
func (s *subject) unfinished() string {
	u := &s.update
	switch {
	case u.Current != nil:
		return fmt.Sprintf("was being updated (%s)", cmp.Or(u.Current.Stage, "started"))
	case s.held:
		return s.hold.String()
	case !u.Succeeded:
		return "was not updated yet"
	}
	return "was not ready: " + cmp.Or(s.runtime.Err, s.runtime.Text, string(s.runtime.Status))
}

// restarts counts the restarts of existing pods by their state, and those of former pods by their last event.
func (s *subject) restarts() (n int) {
	left := map[string]int{}
	for pod, restarts := range s.counts.restarts {
		left[pod] = restarts
	}
	for _, p := range s.pods {
		left[p.Namespace+"/"+p.Name] = p.Restarts()
	}
	for _, restarts := range left {
		n += restarts
	}
	return n
}

// problemOf makes a problem from plain text: the first line is the summary, the others are the detail.
func problemOf(text string) *api.ProblemEvent {
	summary, detail, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return &api.ProblemEvent{Summary: summary, Detail: strings.TrimSpace(detail)}
}
