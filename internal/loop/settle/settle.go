// Package settle answers whether everything that was saved is live, and works. It judges a snapshot; the caller makes sure that the
// snapshot has all files that were saved (see package watch), and judges again when something changes.
package settle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Window is the default time for which a resource that has just gone live must run without a crash or a new error in its log: most
// programs that cannot start end within it.
const Window = time.Second

// errorGrace is the time for which an error of a program from before an update may still be shown after the update: the news of the
// new process comes after the end of the update.
const errorGrace = 2 * Window

// Question selects the resources to judge, and the outside facts that the judgement may ask for.
type Question struct {
	// Names are the resources; nil means all that are enabled.
	Names []model.ManifestName
	// Window is the time for which a resource must run; 0 does not look at the log.
	Window time.Duration
	// Errors returns the lines at error level that a resource has logged between two times, and that are unlike its earlier ones; nil for none.
	Errors func(name model.ManifestName, from, to time.Time) []logstore.Line
	// Unseen returns the inputs of a resource that are not watched and have changed since its targets were built; nil for none. The
	// ignores apply to all watches.
	Unseen func(m *model.Manifest, ignores []model.Ignore, built func(model.TargetID) (began, ended time.Time)) []string
	// Changed returns those of some files that have changed since a time; nil for none.
	Changed func(files []string, since time.Time) []string
}

// Answer is a judgement, and Again the time at which it may differ although the state has not changed; zero if there is none.
type Answer struct {
	Report api.SettleReport
	Again  time.Time
	// Overlaid are the ids of the containers that are live with files of updates in place, and Synced of those of them that have a
	// synclet. A container that has ended meanwhile has lost the files: only an answer of each makes the result certain. Those of an
	// engine keep the files, and are not among them.
	Overlaid, Synced []string
	// Spans are the log spans of the failures, by resource.
	Spans map[model.ManifestName]string
}

// ranks has the results in the order in which one of them decides about all resources.
var ranks = []api.SettleResult{api.SettleFailing, api.SettleWaiting, api.SettleUnknown, api.SettleLive, api.SettleIdle}

// worse returns the result that decides.
func worse(a, b api.SettleResult) api.SettleResult {
	return ranks[min(slices.Index(ranks, a), slices.Index(ranks, b))]
}

// Judge answers for a snapshot that has every file that was saved before the question.
func Judge(v store.View, q Question, now time.Time) Answer {
	j := judge{view: v, question: q, now: now, answer: Answer{Spans: map[model.ManifestName]string{}}}
	j.answer.Report = api.SettleReport{Result: api.SettleIdle, Resources: []api.SettledResource{}}
	j.tiltfile()
	for _, r := range j.chosen() {
		is := j.resource(r)
		rep := &j.answer.Report
		rep.Resources = append(rep.Resources, is)
		rep.Result = worse(rep.Result, is.Result)
		if is.SavedAt.After(rep.SavedAt) {
			rep.SavedAt = is.SavedAt
		}
	}
	rep := &j.answer.Report
	if rep.Result == api.SettleIdle {
		rep.Result = api.SettleLive // nothing that counts is left to wait for
	}
	rep.ExitCode = rep.Result.ExitCode()
	return j.answer
}

// judge holds one judgement.
type judge struct {
	view     store.View
	question Question
	now      time.Time
	answer   Answer
}

// decides notes a result that is not about one of the resources.
func (j *judge) decides(r api.SettleResult, text string) {
	rep := &j.answer.Report
	if worse(rep.Result, r) != rep.Result {
		rep.Result, rep.Text = r, text
	}
}

// tiltfile judges the evaluation of the Tiltfile, and the watching of files: without both, the resources say nothing.
func (j *judge) tiltfile() {
	t, s := state.TheTiltfile(j.view), state.TheSession(j.view)
	e := status.OfTiltfile(t)
	if t.Made.After(j.answer.Report.SavedAt) {
		j.answer.Report.SavedAt = t.Made
	}
	switch {
	case t.Pending() && !t.Due(s) && s.Paused():
		j.decides(api.SettleUnknown, "the Tiltfile has changed, and the session is paused: hone resume")
	case t.Running(), t.Pending():
		j.decides(api.SettleWaiting, strings.TrimSuffix("the Tiltfile is being evaluated: "+e.Text, ": "))
	case t.Err != "":
		j.decides(api.SettleFailing, "the Tiltfile has failed")
		j.answer.Report.Problem = problemOf(t.Err)
		j.answer.Spans[model.TiltfileName] = t.Span
	}
	if j.question.Changed != nil && t.Result.Unwatched != nil {
		if changed := j.question.Changed(t.Result.Unwatched, t.FinishedAt); len(changed) > 0 {
			j.decides(api.SettleUnknown, "the Tiltfile runs commands on files that nothing watches, and that have changed since: "+named(changed)+"; name them in watch_file(), or hone trigger "+string(model.TiltfileName))
		}
	}
	if w := state.Watches.In(j.view).Value(state.Only).Unseen; w != "" {
		j.decides(api.SettleUnknown, "some files are not watched: "+w)
	}
}

// chosen returns the states of the resources to judge, in the order of the Tiltfile.
func (j *judge) chosen() []*status.Resource {
	all := status.All(j.view)
	if j.question.Names == nil {
		return all
	}
	all = slices.Concat(all, status.Disabled(j.view))
	return slices.DeleteFunc(all, func(r *status.Resource) bool { return !slices.Contains(j.question.Names, r.Manifest.Name) })
}

// resource judges one resource.
func (j *judge) resource(r *status.Resource) api.SettledResource {
	out := api.SettledResource{Name: string(r.Manifest.Name), SavedAt: r.Updates.SavedAt()}
	if r.Last != nil {
		j.describe(&out, r)
	}
	f := j.find(r)
	out.Result, out.Text = f.result, f.text
	if f.result == api.SettleFailing {
		out.Text = ""
		out.Problem = f.problem
		j.answer.Spans[r.Manifest.Name] = f.span
		for _, l := range f.lines {
			out.Lines = append(out.Lines, l.Text)
		}
	}
	if f.result == api.SettleLive {
		out.LiveAt = j.liveAt(r)
	}
	return out
}

// finding is the result of one resource.
type finding struct {
	result  api.SettleResult
	text    string
	problem *api.ProblemEvent
	span    string
	lines   []logstore.Line
}

func waiting(text string) finding { return finding{result: api.SettleWaiting, text: text} }
func unknown(text string) finding { return finding{result: api.SettleUnknown, text: text} }

func failing(p *api.ProblemEvent, span string) finding {
	return finding{result: api.SettleFailing, problem: p, span: span}
}

// find returns the first answer that applies. Changes on their way come before faults: a change may mend one.
func (j *judge) find(r *status.Resource) finding {
	for _, ask := range []func(*status.Resource) (finding, bool){j.off, j.held, j.underWay, j.never, j.away, j.updateError, j.runtimeError, j.port, j.notReady, j.replicas, j.unwatched, j.young} {
		if f, ok := ask(r); ok {
			return f
		}
	}
	return finding{result: api.SettleLive}
}

func (j *judge) off(r *status.Resource) (finding, bool) {
	return unknown("is disabled: hone enable " + string(r.Manifest.Name)), !r.Entry.Value.Enabled
}

// held judges an update that is due and does not begin.
func (j *judge) held(r *status.Resource) (finding, bool) {
	if r.Hold == nil {
		return finding{}, false
	}
	if b := r.Blocker; b != nil {
		p := problemOf(b.Why)
		p.Cause = cmp.Or(p.Cause, r.Text)
		return failing(p, ""), true
	}
	if text, ok := j.stuck(r, map[model.ManifestName]bool{}); ok {
		return unknown(text), true
	}
	return waiting(r.Text), true
}

// stuck describes a wait that does not end by itself, also if that is one of a resource that this one waits for, directly or through others.
// seen are the resources that were asked already.
func (j *judge) stuck(r *status.Resource, seen map[model.ManifestName]bool) (text string, ok bool) {
	seen[r.Manifest.Name] = true
	if r.Hold == nil {
		resting := r.Last == nil && r.Updates.Current == nil && !r.Starting
		return "was never started: hone trigger " + string(r.Manifest.Name), resting && !buildcontrol.Due(r.Manifest, r.Updates)
	}
	switch r.Hold.Reason {
	case buildcontrol.HoldManual:
		return r.Text + ": hone trigger " + string(r.Manifest.Name), true
	case buildcontrol.HoldPaused:
		return r.Text + ": hone resume", true
	case buildcontrol.HoldConfirm:
		return r.Text + ": hone confirm", true
	case buildcontrol.HoldCluster, buildcontrol.HoldEngine:
		return r.Text, true
	default: // waits for others, or for work under way
		for _, name := range r.Hold.On {
			e := state.Resources.In(j.view).Ref(string(name))
			if e == nil || seen[name] {
				continue
			}
			on := status.Of(j.view, state.UpdatingOf(j.view, e))
			if why, ok := j.stuck(on, seen); ok {
				return fmt.Sprintf("%s, but %s %s", r.Hold, name, why), true
			}
		}
	}
	return "", false
}

// underWay judges an update that runs, is about to, or goes on in some containers.
func (j *judge) underWay(r *status.Resource) (finding, bool) {
	u := r.Updates
	due := r.Starting || buildcontrol.Due(r.Manifest, u)
	if due || u.Current != nil || r.Leaving() {
		return waiting(cmp.Or(r.Text, r.Missing())), true
	}
	pods := state.PodsOf(j.view, r.Manifest.Name)
	lanes := buildcontrol.LanesOf(r.Manifest, u, pods)
	lag := map[string]bool{}
	for _, s := range r.Behind {
		lag[s.Pod+"/"+s.Container] = true
	}
	for _, c := range lanes.Lacking() {
		lag[c.Pod+"/"+c.Name] = true
	}
	for _, c := range buildcontrol.Live(*r.Manifest, *u, pods) {
		if !u.Lanes[c.ID].Overlaid || c.Namespace == "" {
			continue
		}
		j.answer.Overlaid = append(j.answer.Overlaid, c.ID)
		switch state.Synclets.In(j.view).Value(c.ID).State {
		case "starting", "broken":
			lag[c.Pod+"/"+c.Name] = true // the container may be gone, with its files
		case "ready":
			j.answer.Synced = append(j.answer.Synced, c.ID)
		}
	}
	if len(lag) == 0 {
		return finding{}, false
	}
	return waiting("lacks the newest files in " + strings.Join(slices.Sorted(maps.Keys(lag)), ", ")), true
}

func (j *judge) never(r *status.Resource) (finding, bool) {
	return finding{result: api.SettleIdle, text: r.Text}, r.Last == nil
}

func (j *judge) away(r *status.Resource) (finding, bool) {
	return unknown(r.Runtime.Message()), r.Unknown()
}

func (j *judge) updateError(r *status.Resource) (finding, bool) {
	if r.UpdateErr == "" || j.failedInEnded(r) {
		return finding{}, false
	}
	if !r.Updates.RetryAt.IsZero() {
		return waiting("could not be updated, and hone tries again: " + firstLine(r.UpdateErr)), true
	}
	f := failing(problemOf(r.UpdateErr), r.Last.Span)
	if p := r.Last.Problem; p != nil {
		f.problem = event(*p)
	}
	for _, l := range r.Last.Output {
		f.lines = append(f.lines, logstore.Line{Text: l})
	}
	return f, true
}

// failedInEnded reports whether the newest update has only failed in containers that have ended. Those that follow them get the files
// by another update.
func (j *judge) failedInEnded(r *status.Resource) bool {
	live := map[string]bool{}
	for _, c := range buildcontrol.Live(*r.Manifest, *r.Updates, state.PodsOf(j.view, r.Manifest.Name)) {
		live[c.ID] = true
	}
	failed := slices.DeleteFunc(slices.Clone(r.Last.Containers), func(c model.ContainerUpdate) bool { return c.Err == "" })
	return len(failed) > 0 && !slices.ContainsFunc(failed, func(c model.ContainerUpdate) bool { return live[c.ID] })
}

func (j *judge) runtimeError(r *status.Resource) (finding, bool) {
	if r.RuntimeErr == "" {
		return finding{}, false
	}
	ended := r.Last.FinishedAt
	old := !r.Runtime.FailingSince.IsZero() && r.Runtime.FailingSince.Before(ended)
	if old && j.before(ended.Add(errorGrace)) {
		return waiting("is starting its new process"), true
	}
	if j.containerEnds(r) {
		return waiting("is being restarted: its process and its container have ended"), true
	}
	if r.Runtime.Again && j.startsAtOnce(r) {
		return waiting("has crashed, and is started again: " + firstLine(r.RuntimeErr)), true
	}
	return failing(problemOf(r.RuntimeErr), r.Runtime.Span), true
}

// containerEnds reports whether a process has ended and its container ends with it: Kubernetes starts the next one.
func (j *judge) containerEnds(r *status.Resource) bool {
	return slices.ContainsFunc(buildcontrol.Live(*r.Manifest, *r.Updates, state.PodsOf(j.view, r.Manifest.Name)), func(c model.ContainerRef) bool {
		s := state.Synclets.In(j.view).Value(c.ID)
		return s.Supervised && s.Ending && !s.Running
	})
}

// startsAtOnce reports whether the kubelet starts a crashed container again without a pause. The supervisor of a process pauses.
func (j *judge) startsAtOnce(r *status.Resource) bool {
	return slices.ContainsFunc(state.Present(state.PodsOf(j.view, r.Manifest.Name)), func(p state.Pod) bool {
		c, crashed := state.Crashed(p.Pod)
		return crashed && c.State == model.ContainerTerminated
	})
}

func (j *judge) port(r *status.Resource) (finding, bool) {
	return failing(problemOf(r.PortErr), ""), r.PortErr != ""
}

// notReady judges a runtime that is not ready yet, or that runs again after a series of crashes.
func (j *judge) notReady(r *status.Resource) (finding, bool) {
	if c := r.Relapse; c != nil {
		return waiting(fmt.Sprintf("has crashed %d times, and runs again: it must last", c.Container.Restarts)), true
	}
	return waiting(r.Missing()), !r.Settled()
}

// replicas judges a workload that has fewer pods than it wants, as while one is replaced: the next one begins without the files.
func (j *judge) replicas(r *status.Resource) (finding, bool) {
	if !r.Manifest.IsK8s() || r.Manifest.K8s.PodReadiness == model.PodIgnore {
		return finding{}, false
	}
	want := 0
	for _, a := range r.Updates.Applied {
		want += state.Objects.In(j.view).Value(a.UID).Pods
	}
	return waiting(fmt.Sprintf("has %d of %d pods", r.Pods.Count, want)), r.Pods.Count < want
}

// builtAt returns the times at which the newest build of a target of a resource began and ended. An image may be older than all builds that
// are kept: it has ended before the oldest of them has.
func builtAt(r *status.Resource) func(model.TargetID) (began, ended time.Time) {
	return func(id model.TargetID) (began, ended time.Time) {
		if id.Type != model.TargetImage {
			return r.Last.StartedAt, r.Last.FinishedAt
		}
		began = r.Updates.Images[id.Name].StartedAt
		for _, b := range r.Updates.Builds {
			if b.FinishedAt.Before(began) {
				break
			}
			ended = b.FinishedAt
		}
		return began, ended
	}
}

// unwatched judges inputs that are not watched.
func (j *judge) unwatched(r *status.Resource) (finding, bool) {
	if j.question.Unseen == nil {
		return finding{}, false
	}
	changed := j.question.Unseen(r.Manifest, state.TheTiltfile(j.view).Ignores, builtAt(r))
	return unknown("is built from files that nothing watches, so that it may lack changes of " + named(changed) + ": hone trigger " + string(r.Manifest.Name)), len(changed) > 0
}

// mostNamed is the number of files that a text names.
const mostNamed = 3

// named lists files, the first of many.
func named(files []string) string {
	if more := len(files) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:mostNamed], ", "), more)
	}
	return strings.Join(files, ", ")
}

// young judges a resource that went live a moment ago: it must run on, without a new error in its log.
func (j *judge) young(r *status.Resource) (finding, bool) {
	w := j.question.Window
	if w == 0 {
		return finding{}, false
	}
	live := j.liveAt(r)
	if j.question.Errors != nil {
		if lines := j.question.Errors(r.Manifest.Name, r.Last.StartedAt, live.Add(w)); len(lines) > 0 {
			f := failing(&api.ProblemEvent{Summary: "has logged an error since the save", Cause: lines[0].Text}, "")
			f.lines = lines
			return f, true
		}
	}
	if j.before(live.Add(w)) {
		return waiting("is live, and is watched for a crash or an error"), true
	}
	return finding{}, false
}

// before reports whether a time is still to come, and notes that the answer may then be another one.
func (j *judge) before(at time.Time) bool {
	if !j.now.Before(at) {
		return false
	}
	if j.answer.Again.IsZero() || at.Before(j.answer.Again) {
		j.answer.Again = at
	}
	return true
}

// liveAt returns the time since which the newest files have run: the end of the update, or the newest start of a process since then.
func (j *judge) liveAt(r *status.Resource) time.Time {
	at := r.Last.FinishedAt
	later := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	later(r.Last.ReadyAt)
	for _, p := range state.Present(state.PodsOf(j.view, r.Manifest.Name)) {
		for _, c := range p.LastingContainers() {
			later(c.StartedAt)
		}
	}
	later(state.Processes.In(j.view).Value(string(r.Manifest.Name)).StartedAt)
	return at
}

// ways are the modes of updates in words.
var ways = map[string]string{"synclet": "in place", "container": "in place", "exec": "in place", "image": "image", "local": "local", "deploy": "deploy"}

// describe tells how the newest files have got where they run.
func (j *judge) describe(out *api.SettledResource, r *status.Resource) {
	b := r.Last
	out.How, out.Files = cmp.Or(ways[b.Mode], b.Mode), b.Files
	for _, w := range r.Updates.Waits {
		if w.Serial == b.Serial {
			out.TookMs = api.Milliseconds(float64(w.Took) / float64(time.Millisecond))
		}
	}
	if p := state.Processes.In(j.view).Value(string(r.Manifest.Name)); p.State == state.ProcessRunning {
		out.Processes = append(out.Processes, api.SettledProcess{Start: api.ProcessNew, StartedAt: p.StartedAt})
	}
	for _, p := range state.Present(state.PodsOf(j.view, r.Manifest.Name)) {
		for _, c := range p.LastingContainers() {
			out.Processes = append(out.Processes, api.SettledProcess{Pod: p.Name, Container: c.Name, Start: start(r.Updates.Lanes[c.ID]), StartedAt: c.StartedAt})
		}
	}
}

// start says how the process of a container has got the files of its lane.
func start(l state.Lane) api.ProcessStart {
	switch {
	case !l.Overlaid:
		return api.ProcessNew
	case l.Newer:
		return api.ProcessKept
	}
	return api.ProcessRestarted
}

// problemOf makes a problem of the text of an error.
func problemOf(text string) *api.ProblemEvent {
	return event(state.ProblemText(text))
}

func event(p state.Problem) *api.ProblemEvent {
	return &api.ProblemEvent{Summary: p.Summary, Cause: p.Cause, Detail: p.Detail, Mend: p.Mend, Link: p.Link}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
