// Package page projects the session onto what its web page shows: a row for each resource, and the details of one resource. It is a
// pure function of a snapshot, so that nothing changes in a session where nothing happens.
package page

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
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
		Pending: len(state.AllChanges(u.Pending())), Forwards: b.ports(m, pods), Endpoints: b.endpoints(m),
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
	hold, held := b.plan.Holds[m.Name]
	if held && hold.Reason != buildcontrol.HoldBuilding {
		r.Waiting = &api.Waiting{Reason: string(hold.Reason), Text: hold.String()}
		for _, n := range hold.On {
			r.Waiting.On = append(r.Waiting.On, string(n))
		}
	}
	behind, _ := buildcontrol.Behind(m, u, pods)
	r.Behind = len(behind)
	if r.Error == "" && known.Status == buildcontrol.RuntimeError {
		r.Error = cmp.Or(runtime.Err, runtime.Text, "failed")
	}
	if i := slices.IndexFunc(r.Forwards, func(f api.Forward) bool { return f.State == string(state.ForwardFailed) }); r.Error == "" && i >= 0 {
		r.Error = "port forward " + r.Forwards[i].Address + ": " + cmp.Or(r.Forwards[i].Error, "failed")
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
	case last.Warnings > 0, r.Behind > 0:
		r.Status = Warning
	default:
		r.Status = OK
	}
	return r
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

// ports returns the ports of this machine that lead to a resource. A forward whose last connection failed is broken if its pod is
// ready, or if the port could not be opened; else it waits.
func (b *builder) ports(m model.Manifest, pods []state.Pod) []api.Forward {
	var out []api.Forward
	for _, p := range state.Published(m, pods) {
		f := api.Forward{LocalPort: p.Published, URL: p.URL(), State: string(state.ForwardWaiting)}
		if slices.ContainsFunc(pods, func(o state.Pod) bool { return o.Current && o.Ready }) {
			f.State = string(state.ForwardReady)
		}
		out = append(out, f)
	}
	for _, f := range b.forwards[m.Name] {
		is := f.State
		ready := slices.ContainsFunc(pods, func(p state.Pod) bool {
			return p.Ready && !p.Deleting && strings.HasPrefix(f.Pod, p.Namespace+"/"+p.Name+":")
		})
		if is == state.ForwardFailed && f.Pod != "" && !ready {
			is = state.ForwardWaiting
		}
		out = append(out, api.Forward{LocalPort: f.Spec.LocalPort, Address: f.Spec.Address(), Added: state.Resources.In(b.v).Value(string(m.Name)).AddedForward(f.Spec),
			URL: f.URL, Pod: f.Pod, State: string(is), Error: f.Err})
	}
	slices.SortStableFunc(out, func(a, b api.Forward) int { return a.LocalPort - b.LocalPort })
	return out
}

// endpoints returns the addresses of a resource: its forwards, its Services, its links.
func (b *builder) endpoints(m model.Manifest) []api.PageLink {
	var out []api.PageLink
	add := func(address, name string) {
		if address != "" && !slices.ContainsFunc(out, func(l api.PageLink) bool { return l.URL == address }) {
			out = append(out, api.PageLink{URL: address, Name: name})
		}
	}
	for _, f := range b.forwards[m.Name] {
		add(f.URL, f.Spec.Name)
	}
	for _, s := range b.services[m.Name] {
		add(s.URL, s.Name)
	}
	links := m.Links
	if m.K8s != nil {
		links = slices.Concat(links, m.K8s.Links)
	}
	if m.Local != nil {
		links = slices.Concat(links, m.Local.Links)
	}
	for _, l := range links {
		add(l.URL, l.Name)
	}
	for _, p := range state.Published(m, b.pods[m.Name]) {
		add(p.URL(), p.Name)
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
	if s.Paused() {
		add("warning", "the session is paused: updates begin only on request")
	}
	if s.Brake.Why != "" {
		add("warning", s.Brake.Why+"\npress X on hone's screen to delete them, or fix the Tiltfile")
	}
	for _, t := range s.Turns {
		add("warning", t.By+" deploys this project: updates wait until it has ended")
	}
	if w := state.Watches.In(v).Value(state.Only); w.Problem != "" {
		add("warning", w.Problem)
	}
	return out
}
