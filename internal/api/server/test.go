package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// test handles POST /api/test: it runs the tests that have no verdict about the newest saved files, and waits for the verdicts.
func (s *Subscriber) test(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.TestRequest
	if !decode(w, r, &req) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(req.WithinMs.Duration(), mostWithin))
	defer cancel()
	names, asked := req.Names, req.Asked
	if asked.IsZero() {
		asked = s.now()
		_ = s.fence(ctx, src) // tested says so if that fails
		if !src.take(w, r, func(v store.View) (actions []store.Action, err error) {
			var a state.ResourcesTriggered
			names, a, err = testsToRun(v, req)
			if len(a.Names) > 0 {
				actions = append(actions, a)
			}
			return actions, err
		}) {
			return
		}
	}
	rep, err := s.tested(ctx, src, names, asked)
	if r.Context().Err() != nil {
		return
	}
	if err != nil {
		failBy(w, codeOf(err), err)
		return
	}
	respondRedacted(src, w, rep)
}

// testsToRun returns the tests that a request chooses, and the request to run those that have to.
func testsToRun(v store.View, req api.TestRequest) (names []string, run state.ResourcesTriggered, err error) {
	chosen, err := testsOf(v, req.Names)
	if err != nil {
		return nil, run, err
	}
	run.Known, run.Rebuild = !req.NoCache, req.NoCache
	for _, r := range chosen {
		last, judged := r.Updates.Last()
		if req.RerunFailed && (!judged || last.Err == "") {
			continue
		}
		names = append(names, string(r.Manifest.Name))
		awaited := r.Last == nil && r.Updates.Current == nil
		if req.NoCache || req.RerunFailed || awaited {
			run.Names = append(run.Names, r.Manifest.Name)
		}
	}
	return names, run, nil
}

// testsOf returns the named tests, or all that are enabled, in the order of the Tiltfile.
func testsOf(v store.View, names []string) (tests []*status.Resource, err error) {
	for _, r := range status.All(v) {
		if r.Manifest.IsTest() && (len(names) == 0 || slices.Contains(names, string(r.Manifest.Name))) {
			tests = append(tests, r)
		}
	}
	for _, n := range names {
		if slices.ContainsFunc(tests, func(r *status.Resource) bool { return string(r.Manifest.Name) == n }) {
			continue
		}
		if _, err := intent.Trigger(v, []string{n}); err != nil {
			return nil, err
		}
		return nil, &intent.Refusal{Reason: intent.Invalid, Err: problem.New(n+" is no test", "declare it with test(), or with local_resource(…, kind='test')")}
	}
	return tests, nil
}

// tested waits for the verdicts of tests about the newest saved files, or until ctx is done. As in judged, a command that has ended may have
// written files that a verdict was not about.
func (s *Subscriber) tested(ctx context.Context, src *source, names []string, asked time.Time) (rep api.TestReport, err error) {
	rep = api.TestReport{Result: api.TestPassed, Asked: asked, Tests: []api.TestedResource{}}
	if len(names) == 0 {
		return rep, nil
	}
	q, err := s.settleQuestion(src.View(), api.SettleRequest{Resources: names, WindowMs: new(api.Milliseconds)})
	if err != nil {
		return rep, err
	}
	before := workedIn(src.View())
	fence := s.fence(ctx, src)
	for {
		changed, began := src.Changed(), time.Now()
		v := src.View()
		if !s.work(context.WithoutCancel(ctx), func() { rep = testReport(v, s.answer(v, q, fence).Report, asked) }) {
			return rep, ctx.Err()
		}
		judged := rep.Result == api.TestPassed || rep.Result == api.TestFailed
		if now := workedIn(v); judged && now != before {
			before, fence = now, s.fence(ctx, src)
			continue
		}
		if rep.Result != api.TestWaiting {
			return rep, nil
		}
		rest := time.After(settleShare * time.Since(began))
		select {
		case <-changed:
		case <-ctx.Done():
			return rep, nil
		}
		select {
		case <-rest:
		case <-ctx.Done():
		}
	}
}

// testReport makes a report of the judgement of tests. A verdict that has become old since then does not count.
func testReport(v store.View, is api.SettleReport, asked time.Time) api.TestReport {
	rep := api.TestReport{Result: api.TestPassed, Asked: asked, Tests: []api.TestedResource{}}
	if is.Text != "" {
		rep.Text = is.Text
		rep.Result = api.TestUnknown
		if is.Result == api.SettleWaiting {
			rep.Result = api.TestWaiting
		}
	}
	for _, r := range is.Resources {
		t := testedResource(v, r, asked)
		rep.Tests = append(rep.Tests, t)
		rep.Result = worstTest(rep.Result, t.Result)
		switch {
		case t.Result == api.TestFailed:
			rep.Failed++
		case t.Result == api.TestPassed && t.Cached:
			rep.Cached++
			fallthrough
		case t.Result == api.TestPassed:
			rep.Passed++
		}
	}
	rep.ExitCode = rep.Result.ExitCode()
	return rep
}

func worstTest(a, b api.TestResult) api.TestResult {
	return api.TestResults[min(slices.Index(api.TestResults, a), slices.Index(api.TestResults, b))]
}

// testedResource returns the result of a test, given the judgement about it.
func testedResource(v store.View, r api.SettledResource, asked time.Time) api.TestedResource {
	t := api.TestedResource{Name: r.Name, Result: api.TestUnknown, Text: r.Text}
	e := state.Resources.In(v).Ref(r.Name)
	if e == nil {
		t.Text = "is not declared any more"
		return t
	}
	u := state.UpdatingOf(v, e)
	last, judged := status.LastOf(v, &u.Value.Manifest, u.Update)
	switch {
	case r.Result == api.SettleWaiting:
		t.Result = api.TestWaiting
		return t
	case !judged:
		if p := r.Problem; p != nil {
			t.Text = cmp.Or(p.Cause, p.Summary)
		}
		t.Text = cmp.Or(t.Text, "has not run")
		if r.Result == api.SettleLive {
			t.Result, t.Text = api.TestWaiting, "has changed again"
		}
		return t
	case last.Err != "":
		t.Result, t.Text, t.Problem, t.Place, t.Lines = api.TestFailed, "", r.Problem, r.Place, r.Lines
	case r.Result == api.SettleLive:
		t.Result = api.TestPassed
	}
	if verdict := last.Verdict; verdict != nil {
		describeVerdict(&t, verdict, asked)
	}
	return t
}

// describeVerdict fills in when and how a test has run, and its single tests.
func describeVerdict(t *api.TestedResource, v *model.Verdict, asked time.Time) {
	t.Key, t.At, t.TookMs, t.Left = v.Key, v.At, api.Milliseconds(v.Took.Seconds()*1000), v.Left
	t.Cached = v.Cached || v.At.Before(asked)
	for _, c := range v.Cases {
		is := api.TestCase{Suite: c.Suite, Name: c.Name, Result: string(c.Result), TookMs: api.Milliseconds(c.Took.Seconds() * 1000), Text: c.Text}
		if c.File != "" {
			is.Place = &api.SourcePlace{File: c.File, Line: c.Line}
		}
		t.Cases = append(t.Cases, is)
	}
}
