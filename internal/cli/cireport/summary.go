package cireport

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
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

// Outcome is the outcome of a session.
type Outcome struct {
	// Result is one of the results above, and Code is the exit code of the process.
	Result string
	Code   int
	// Failure is the reason why it failed, with the fix if one is known.
	Failure string
	At      time.Time
	// Tiltfile is the path, for a session that could not begin.
	Tiltfile string
}

// Summarize returns the summary of a session, without secrets. The view is the state at its end, before anything was stopped.
func Summarize(v store.View, t *Tally, o Outcome) api.Summary {
	session := state.TheSession(v)
	out := api.Summary{Result: o.Result, ExitCode: o.Code, Failure: o.Failure, Tiltfile: cmp.Or(session.Tiltfile, o.Tiltfile), StartedAt: session.StartedAt,
		Missed: t.missed, Resources: []api.ResourceSummary{tiltfile(v, t.of(string(model.TiltfileName)), o)}}
	if !session.StartedAt.IsZero() {
		out.TookMs = lasted(session.StartedAt, o.At)
	}
	for _, is := range status.All(v) {
		s := subject{Resource: is, counts: t.of(is.Entry.ID), outcome: o, ended: session.Ended, pods: state.PodsOf(v, is.Manifest.Name)}
		if u := state.Updates.In(v).Ref(is.Entry.ID); u != nil {
			s.declared = u.Created
		}
		out.Resources = append(out.Resources, s.summary())
	}
	for _, is := range status.Disabled(v) {
		out.Resources = append(out.Resources, api.ResourceSummary{Name: is.Entry.ID, Type: string(is.Manifest.DeployID().Type), Status: statusSkipped,
			Skipped: is.Text, UpdateStatus: string(is.Update), RuntimeStatus: string(is.Runtime.Status)})
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
	is := status.OfTiltfile(t)
	out := api.ResourceSummary{Name: string(model.TiltfileName), Type: "tiltfile", Status: statusUnfinished, UpdateStatus: string(is.Update),
		RuntimeStatus: string(buildcontrol.RuntimeNotApplicable), Builds: t.Runs}
	switch {
	case t.Running():
		out.TookMs = lasted(t.StartedAt, o.At)
		out.Problem = &api.ProblemEvent{Summary: strings.TrimSuffix("is being evaluated, "+is.Text, ", ")}
	case is.State == status.Failed:
		out.Status, out.Problem = statusFailed, cmp.Or(c.problem, problemOf(t.Err))
	case t.Good:
		out.Status = statusOK
	}
	if !t.StartedAt.IsZero() && !t.FinishedAt.IsZero() {
		out.TookMs = events.Ms(t.FinishedAt.Sub(t.StartedAt))
	}
	out.BuildMs = out.TookMs
	return out
}

// subject is all that is known about a resource at the end.
type subject struct {
	*status.Resource
	declared time.Time
	pods     []state.Pod
	counts   *counts
	outcome  Outcome
	ended    *state.Ending
}

func (s *subject) summary() api.ResourceSummary {
	m, u, c := s.Manifest, s.Updates, s.counts
	out := api.ResourceSummary{Name: s.Entry.ID, Type: string(m.DeployID().Type), UpdateStatus: string(s.Update),
		RuntimeStatus: string(s.Runtime.Status), Builds: c.builds, BuildMs: c.building, Restarts: s.restarts()}
	if !m.AutoInit && u.Serial == 0 && u.Triggered.IsZero() {
		out.Status, out.Skipped = statusSkipped, "manual"
		return out
	}
	out.Status, out.Problem = s.result()
	out.TookMs = c.ready
	if !c.wasReady && !s.declared.IsZero() {
		out.TookMs = lasted(s.declared, s.outcome.At)
	}
	if u.Current != nil {
		out.BuildMs += events.Ms(u.Current.Duration(s.outcome.At))
	}
	out.Waits = c.until(s.outcome.At, out.Status == statusOK, s.Runtime.Message())
	return out
}

// result returns the result of the resource, and its problem if it has one. A broken port is a problem, but no failure.
func (s *subject) result() (string, *api.ProblemEvent) {
	switch {
	case s.UpdateErr != "":
		return statusFailed, cmp.Or(s.counts.problem, problemOf(s.UpdateErr))
	case s.RuntimeErr != "":
		return statusFailed, problemOf(s.RuntimeErr)
	case s.ended != nil && s.ended.Resource == s.Manifest.Name && s.ended.Failure != "":
		p := problemOf(s.ended.Failure)
		p.Mend, p.Detail = p.Detail, "" // a failure that ends the session has no detail, only a mend
		return statusFailed, p
	case s.Settled() && s.PortErr != "":
		return statusOK, problemOf(s.PortErr)
	case s.Settled():
		return statusOK, nil
	}
	return statusUnfinished, &api.ProblemEvent{Summary: s.Missing()}
}

// restarts counts the restarts of existing pods by their state, and the restarts of former pods by their last event.
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
