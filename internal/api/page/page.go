// Package page projects the session onto its web page: a row for each resource, and the details of one resource. It is a pure
// function of a snapshot, so the page changes only when the session does.
package page

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// namedFiles is the most files that a row names.
const namedFiles = 3

// Session returns the session's own part of a page.
func Session(v store.View, version string) api.PageSession {
	s, c := state.TheSession(v), state.TheCluster(v)
	out := api.PageSession{Run: s.RunID, Version: version, Tiltfile: s.Tiltfile, Context: c.Context, Namespace: c.Namespace, StartedAt: s.StartedAt,
		Paused: s.Paused(), Ended: s.Ended != nil, Notices: notices(v), Clusters: Clusters(v)}
	if s.Tiltfile != "" {
		out.Project = filepath.Base(filepath.Dir(s.Tiltfile))
	}
	out.Arguments, out.Buttons, out.Evaluation, out.Revisions = s.Args, Buttons(v), state.TheTiltfile(v).Runs, state.RevisionsOf(v)
	return out
}

// Rows returns all rows: the Tiltfile, the resources in its order, and those that are disabled.
func Rows(v store.View) []api.PageResource {
	rows := []api.PageResource{tiltfile(v)}
	for _, s := range slices.Concat(status.All(v), status.Disabled(v)) {
		rows = append(rows, row(v, s))
	}
	return rows
}

func tiltfile(v store.View) api.PageResource {
	t := state.TheTiltfile(v)
	is := status.OfTiltfile(t)
	r := api.PageResource{Name: string(model.TiltfileName), Type: "tiltfile", Status: string(is.State), Text: is.Text, Error: is.Err,
		Runtime: api.PageRuntime{Status: string(buildcontrol.RuntimeNotApplicable)}}
	update := &api.PageUpdate{Mode: "evaluation", StartedAt: t.StartedAt, FinishedAt: t.FinishedAt, Error: t.Err, Warnings: len(t.Warnings)}
	switch {
	case t.Running():
		update.FinishedAt, update.Error = time.Time{}, ""
		if is.Text != "" {
			update.Progress = &api.Progress{Waits: is.Text, Since: is.Since}
		}
		r.Current = update
	case !t.FinishedAt.IsZero():
		update.Milliseconds = milliseconds(t.FinishedAt.Sub(t.StartedAt))
		r.Last = update
	}
	return r
}

func row(v store.View, s *status.Resource) api.PageResource {
	m, u := s.Manifest, s.Updates
	r := api.PageResource{Name: s.Entry.ID, Type: status.Type(*m), Labels: m.Labels, Status: string(s.State), Text: s.Text, TriggerMode: m.TriggerMode.String(),
		Disabled: !s.Entry.Value.Enabled, Leaving: s.Leaving(), Waiting: s.Waiting(), Behind: len(s.Behind), Drift: s.Drift.Text(), Error: s.Err(),
		Forwards: Forwards(s), Endpoints: endpoints(s),
		Runtime: api.PageRuntime{Status: string(s.Runtime.Status), Text: s.Runtime.Text, Error: s.Runtime.Err, Pods: s.Pods.Count, Ready: s.Pods.Ready, Restarts: s.Pods.Restarts}}
	if m.IsK8s() && len(state.DeclaredClusters(v)) > 0 {
		r.Cluster = state.ClusterTitle(v, m.Cluster())
	}
	if r.Disabled {
		return r
	}
	r.Pending, r.DependsOn = len(state.AllChanges(u.Pending())), names(m.ResourceDeps)
	if p := state.Processes.In(v).Value(s.Entry.ID); p.State == state.ProcessRunning {
		r.Runtime.Since = p.StartedAt
	}
	if u.Current != nil {
		r.Current = update(*u.Current)
	}
	if s.Last != nil {
		r.Last = update(*s.Last)
	}
	if !u.FirstBegan.IsZero() {
		r.Start = &api.PageStart{Began: u.FirstBegan, Ready: u.FirstReady}
	}
	if l := s.Relapse; l != nil {
		reason, _ := status.Words(l.Container.LastReason)
		r.Relapse = &api.PageRelapse{Container: l.Container.Name, Reason: reason, Restarts: l.Container.Restarts}
	}
	return r
}

func names(list []model.ManifestName) []string {
	var out []string
	for _, n := range list {
		out = append(out, string(n))
	}
	return out
}

// Forwards returns the ports of a resource as the API shows them.
func Forwards(s *status.Resource) []api.Forward {
	var out []api.Forward
	for _, p := range s.Ports {
		out = append(out, api.Forward{LocalPort: p.Number, Address: p.Address, Added: p.Added, URL: p.URL, Pod: p.Pod, State: string(p.State), Error: p.Err})
	}
	return out
}

func endpoints(s *status.Resource) []api.PageLink {
	var out []api.PageLink
	for _, e := range s.Endpoints {
		out = append(out, api.PageLink(e))
	}
	return out
}

// update returns an update as a row shows it.
func update(b state.Build) *api.PageUpdate {
	u := &api.PageUpdate{Serial: b.Serial, Mode: mode(b), Reason: b.Because(), Stage: b.Stage, Files: b.Files[:min(len(b.Files), namedFiles)],
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

// acts are the page's own answers to notices, and mends are its hints for notices that it cannot settle, or not alone.
var (
	acts  = map[status.About]string{status.AboutPause: "resume", status.AboutPrune: "prune", status.AboutConfirm: "confirm"}
	mends = map[status.About]string{status.AboutPrune: "delete them, or fix the Tiltfile"}
)

// notices returns the problems of the session as a whole.
func notices(v store.View) []api.PageNotice {
	var out []api.PageNotice
	for _, n := range status.Notices(v) {
		shown := api.PageNotice{Severity: "warning", Summary: n.Text, Cause: n.Problem.Cause, Mend: cmp.Or(mends[n.About], n.Problem.Mend), Act: acts[n.About]}
		if n.Severe {
			shown.Severity = "error"
		}
		out = append(out, shown)
	}
	return out
}
