// Package page projects the session onto what its web page shows: a row for each resource, and the details of one resource. It is a
// pure function of a snapshot, so that nothing changes in a session where nothing happens.
package page

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// The statuses of a row.
const (
	Idle     = "idle" // disabled, or not started yet
	OK       = "ok"
	Warning  = "warning"
	Waiting  = "waiting"
	Updating = "updating"
	Failed   = "failed"
	Unknown  = "unknown" // what runs it does not answer
)

// namedFiles is how many files a row names.
const namedFiles = 3

// Session returns the session's own part of a page.
func Session(v store.View, version string) api.PageSession {
	s, c := state.TheSession(v), state.TheCluster(v)
	out := api.PageSession{Run: s.RunID, Version: version, Tiltfile: s.Tiltfile, Context: c.Context, Namespace: c.Namespace, StartedAt: s.StartedAt,
		Paused: s.Paused(), Ended: s.Ended != nil, Notices: notices(v)}
	if s.Tiltfile != "" {
		out.Project = filepath.Base(filepath.Dir(s.Tiltfile))
	}
	out.Arguments, out.Buttons, out.Evaluation = s.Args, Buttons(v), state.TheTiltfile(v).Runs
	return out
}

// Rows returns all rows: the Tiltfile, the resources in its order, and those that are disabled.
func Rows(v store.View) []api.PageResource {
	b := builder{v: v, plan: buildcontrol.Decide(v, nil), starting: map[model.ManifestName]bool{}, pods: state.PodsByResource(v),
		forwards: map[model.ManifestName][]state.Forward{}, services: map[model.ManifestName][]model.Service{}}
	for _, c := range b.plan.Start {
		b.starting[c.Name] = true
	}
	for e := range state.Forwards.In(v).Entries() {
		b.forwards[e.Value.Resource] = append(b.forwards[e.Value.Resource], e.Value)
	}
	for e := range state.Services.In(v).Entries() {
		b.services[e.Value.Resource] = append(b.services[e.Value.Resource], e.Value)
	}
	rows := []api.PageResource{tiltfile(v)}
	updates := state.Updates.In(v)
	for _, e := range state.InOrder(v) {
		rows = append(rows, b.row(e, updates.Value(e.ID)))
	}
	off := slices.SortedStableFunc(state.Disabled(v), func(x, y *store.Entry[state.Resource]) int { return x.Value.Order - y.Value.Order })
	for _, e := range off {
		m := e.Value.Manifest
		rows = append(rows, api.PageResource{Name: e.ID, Type: kind(m), Labels: m.Labels, Status: Idle, Disabled: true, TriggerMode: m.TriggerMode.String(),
			Runtime: api.PageRuntime{Status: string(buildcontrol.RuntimeNone)}})
	}
	return rows
}

// builder builds the rows of one snapshot.
type builder struct {
	v        store.View
	plan     buildcontrol.Plan
	starting map[model.ManifestName]bool
	pods     map[model.ManifestName][]state.Pod
	forwards map[model.ManifestName][]state.Forward
	services map[model.ManifestName][]model.Service
}

func kind(m model.Manifest) string {
	switch {
	case m.IsLocal():
		return "local"
	case m.IsCompose():
		return "compose"
	}
	return "k8s"
}

func tiltfile(v store.View) api.PageResource {
	t := state.TheTiltfile(v)
	r := api.PageResource{Name: string(model.TiltfileName), Type: "tiltfile", Runtime: api.PageRuntime{Status: string(buildcontrol.RuntimeNotApplicable)}, Error: t.Err}
	update := &api.PageUpdate{Mode: "evaluation", StartedAt: t.StartedAt, FinishedAt: t.FinishedAt, Error: t.Err, Warnings: len(t.Warnings)}
	switch {
	case t.Running():
		update.FinishedAt, update.Error = time.Time{}, ""
		r.Current = update
	case !t.FinishedAt.IsZero():
		update.Milliseconds = milliseconds(t.FinishedAt.Sub(t.StartedAt))
		r.Last = update
	}
	switch {
	case t.Running():
		r.Status = Updating
	case t.Err != "":
		r.Status = Failed
	case t.Pending():
		r.Status = Waiting
	case len(t.Warnings) > 0:
		r.Status = Warning
	default:
		r.Status = OK
	}
	return r
}

func (b *builder) row(e store.Entry[state.Resource], u state.Update) api.PageResource {
	m := e.Value.Manifest
	pods := b.pods[m.Name]
	runtime := buildcontrol.Runtime(b.v, m, u, pods)
	known := buildcontrol.Known(b.v, m, runtime)
	r := api.PageResource{Name: e.ID, Type: kind(m), Labels: m.Labels, TriggerMode: m.TriggerMode.String(), Leaving: e.Phase == store.TearingDown,
		Pending: len(state.AllChanges(u.Pending())), Forwards: b.ports(m, pods), Endpoints: b.endpoints(m), DependsOn: names(m.ResourceDeps),
		Runtime: api.PageRuntime{Status: string(known.Status), Text: known.Text, Error: known.Err}}
	for _, p := range pods {
		if !p.Current || p.Deleting {
			continue
		}
		r.Runtime.Pods++
		r.Runtime.Restarts += p.Restarts()
		if p.Ready {
			r.Runtime.Ready++
		}
	}
	if p, ok := state.Processes.In(b.v).Get(e.ID); ok && p.Value.State == state.ProcessRunning {
		r.Runtime.Since = p.Value.StartedAt
	}
	if u.Current != nil {
		r.Current = update(*u.Current)
	}
	last, built := u.Last()
	if built && u.TakenDown == "" {
		r.Last = update(last)
		r.Error = last.Err
	}
	if !u.FirstBegan.IsZero() {
		r.Start = &api.PageStart{Began: u.FirstBegan, Ready: u.FirstReady}
	}
	if u.Current == nil {
		r.Drift = state.Drifts.In(b.v).Value(e.ID).Text()
	}
	if runtime.Status == buildcontrol.RuntimeOK || runtime.Status == buildcontrol.RuntimePending {
		r.Relapse = relapse(pods)
	}
	hold, held := b.plan.Holds[m.Name]
	if held && hold.Reason != buildcontrol.HoldBuilding {
		r.Waiting = &api.Waiting{Reason: string(hold.Reason), Text: hold.String()}
		r.Waiting.On = names(hold.On)
	}
	if r.Leaving && slices.Contains(state.TheSession(b.v).Confirmation.Leaving, m.Name) {
		r.Waiting = &api.Waiting{Reason: string(buildcontrol.HoldConfirm), Text: intent.LeavingText}
	}
	behind, _ := buildcontrol.Behind(m, u, pods)
	r.Behind = len(behind)
	if r.Error == "" && known.Status == buildcontrol.RuntimeError {
		r.Error = cmp.Or(runtime.Err, runtime.Text, "failed")
	}
	if i := slices.IndexFunc(r.Forwards, func(f api.Forward) bool { return f.State == string(state.ForwardFailed) }); r.Error == "" && i >= 0 {
		r.Error = fmt.Sprintf("port %d: ", r.Forwards[i].LocalPort) + cmp.Or(r.Forwards[i].Error, "failed")
	}
	unknown := known.Status == buildcontrol.RuntimeUnknown && runtime.Status != buildcontrol.RuntimeUnknown
	switch {
	case u.Current != nil:
		r.Status = Updating
	case r.Leaving:
		r.Status = Waiting
	case r.Error != "":
		r.Status = Failed
	case unknown && built && u.TakenDown == "":
		r.Status = Unknown
	case held:
		r.Status = Waiting
	case b.starting[m.Name]:
		r.Status = Updating
	case !built, u.TakenDown != "":
		r.Status = Idle
	case runtime.Status == buildcontrol.RuntimePending, runtime.Status == buildcontrol.RuntimeUnknown:
		r.Status = Waiting
	case last.Warnings > 0, r.Behind > 0, r.Drift != "":
		r.Status = Warning
	default:
		r.Status = OK
	}
	return r
}

// relapse returns the container of a resource's pods that runs again in a crash loop. Its page compares the end of the loop with the time:
// here the answer must not depend on it.
func relapse(pods []state.Pod) *api.PageRelapse {
	for _, p := range pods {
		if !p.Current || p.Deleting || p.OfCompose() {
			continue
		}
		if c, until, looping := state.RelapseUntil(p); looping {
			return &api.PageRelapse{Container: c.Name, Reason: c.LastReason, Restarts: c.Restarts, Until: until}
		}
	}
	return nil
}

func names(list []model.ManifestName) []string {
	var out []string
	for _, n := range list {
		out = append(out, string(n))
	}
	return out
}

// update returns an update as a row shows it.
func update(b state.Build) *api.PageUpdate {
	u := &api.PageUpdate{Serial: b.Serial, Mode: mode(b), Reason: b.Reason.String(), Stage: b.Stage, Files: b.Files[:min(len(b.Files), namedFiles)],
		FileCount: len(b.Files), StartedAt: b.StartedAt, FinishedAt: b.FinishedAt, Error: b.Err, Cancelled: b.Cancelled, Warnings: b.Warnings, FellBack: b.FellBack}
	if p := b.Progress; p.Kind != "" {
		u.Progress = &api.Progress{Kind: string(p.Kind), Image: p.Image, Nth: p.Nth, Images: p.Images, Step: p.Step, Steps: p.Steps, Percent: p.Percent, Waits: p.Waits}
	}
	if !b.FinishedAt.IsZero() {
		u.Milliseconds = milliseconds(b.Duration(b.FinishedAt))
		if slow, ok := slowest(b.Containers); ok {
			u.Milliseconds = milliseconds(slow.Stages.Total())
		}
	}
	return u
}

func mode(b state.Build) string {
	if b.InPlace() {
		return "in place"
	}
	return b.Mode
}

// slowest returns the container whose update took longest, among the completed updates.
func slowest(list []model.ContainerUpdate) (slow model.ContainerUpdate, ok bool) {
	for _, c := range list {
		if !c.Behind && c.Stages.Total() > slow.Stages.Total() {
			slow, ok = c, true
		}
	}
	return slow, ok
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// ports returns the ports of this machine that lead to a resource.
func (b *builder) ports(m model.Manifest, pods []state.Pod) []api.Forward {
	var out []api.Forward
	for _, p := range state.Published(m, pods) {
		f := api.Forward{LocalPort: p.Published, URL: p.URL(), State: string(state.ForwardWaiting)}
		if slices.ContainsFunc(pods, func(o state.Pod) bool { return o.Current && o.Ready }) {
			f.State = string(state.ForwardReady)
		}
		out = append(out, f)
	}
	added := state.Resources.In(b.v).Value(string(m.Name))
	for _, f := range b.forwards[m.Name] {
		is := f.State
		if _, fails := f.FailsFrom(pods); is == state.ForwardFailed && !fails {
			is = state.ForwardWaiting
		}
		out = append(out, api.Forward{LocalPort: f.Spec.LocalPort, Address: f.Spec.Address(), Added: added.AddedForward(f.Spec),
			URL: f.URL, Pod: f.Pod, State: string(is), Error: f.Err})
	}
	slices.SortStableFunc(out, func(a, b api.Forward) int { return a.LocalPort - b.LocalPort })
	return out
}

// endpoints returns the addresses of a resource.
func (b *builder) endpoints(m model.Manifest) []api.PageLink {
	var out []api.PageLink
	for _, e := range state.Endpoints(m, b.forwards[m.Name], b.services[m.Name], b.pods[m.Name]) {
		out = append(out, api.PageLink(e))
	}
	return out
}

// notices returns the problems of the session as a whole.
func notices(v store.View) []api.PageNotice {
	var out []api.PageNotice
	add := func(severity, text string) {
		summary, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
		out = append(out, api.PageNotice{Severity: severity, Summary: summary, Mend: strings.TrimSpace(rest)})
	}
	away := func(what, text string, p state.Problem) {
		n := api.PageNotice{Severity: "error", Summary: what + " does not answer", Cause: cmp.Or(p.Cause, p.Summary), Mend: p.Mend}
		if p.Summary == "" {
			n.Cause, n.Mend, _ = strings.Cut(text, "\n")
		}
		out = append(out, n)
	}
	s := state.TheSession(v)
	if e := s.Ended; e != nil && e.Failure != "" {
		add("error", e.Failure)
	}
	if c := state.TheCluster(v); c.Err != "" && !c.Connected && state.NeedsCluster(v) {
		away(strings.TrimSpace("cluster "+c.Context), c.Err, c.Problem)
	}
	if e := state.TheEngine(v); e.Err != "" && !e.Connected && state.NeedsEngine(v) {
		away("container engine", e.Err, e.Problem)
	}
	for e := range state.Subscribers.In(v).Entries() {
		if e.Value.State == store.SubscriberBackingOff {
			add("error", "hone's "+e.ID+" failed and is being restarted: "+e.Value.Err)
		}
	}
	can := func(act string) { out[len(out)-1].Act = act }
	if s.Paused() {
		add("warning", "the session is paused: updates begin only on request")
		can("resume")
	}
	if s.Brake.Why != "" {
		add("warning", s.Brake.Why+"\ndelete them, or fix the Tiltfile")
		can("prune")
	}
	if waits := intent.UnconfirmedText(v); waits != "" {
		add("warning", waits)
		can("confirm")
	}
	for _, t := range s.Turns {
		add("warning", t.By+" deploys this project: updates wait until it has ended")
	}
	if w := state.Watches.In(v).Value(state.Only); w.Problem != "" {
		add("warning", w.Problem)
	}
	return out
}
