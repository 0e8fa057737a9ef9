package server

import (
	"github.com/hone-dev/hone/internal/api/page"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
	"slices"
)

// View returns the session as the API shows it.
func View(v store.View, version string) api.View {
	t, c, session := state.TheTiltfile(v), state.TheCluster(v), state.TheSession(v)
	out := api.View{
		Version: version, Tiltfile: session.Tiltfile, Context: c.Context, Namespace: c.Namespace, StartedAt: session.StartedAt,
		TiltfileError: t.Err, EngineError: state.TheEngine(v).Err,
		WatchError: state.Watches.In(v).Value(state.Only).Problem,
		Buttons:    page.Buttons(v), Commands: commands(v),
		Resources: []api.Resource{}, Subscribers: []api.Subscriber{}, Revisions: state.RevisionsOf(v), // JSON lists even when they are empty
	}
	if state.NeedsCluster(v, "") {
		out.ClusterError = c.Err
	}
	out.Clusters = page.Clusters(v)
	if p, ok := buildcontrol.PausedOf(v); ok {
		out.Paused = paused(p)
	}
	for e := range state.Subscribers.In(v).Refs() {
		out.Subscribers = append(out.Subscribers, api.Subscriber{Name: e.ID, State: string(e.Value.State),
			Crashes: e.Value.Crashes, Error: e.Value.Err})
	}
	services := map[model.ManifestName][]string{}
	for e := range state.Services.In(v).Refs() {
		if e.Value.URL != "" {
			services[e.Value.Resource] = append(services[e.Value.Resource], e.Value.URL)
		}
	}
	synclets := map[model.ManifestName][]api.Synclet{}
	for e := range state.Synclets.In(v).Refs() {
		s := e.Value
		synclets[s.Resource] = append(synclets[s.Resource], api.Synclet{Pod: s.Pod, Container: s.Container, State: s.State,
			Way: s.Way, Passed: s.Passed, Error: s.Err})
	}
	for _, s := range slices.Concat(status.All(v), status.Disabled(v)) {
		r := resource(v, s)
		r.ServiceURLs, r.Synclets = services[s.Manifest.Name], synclets[s.Manifest.Name]
		out.Resources = append(out.Resources, r)
	}
	return out
}

func paused(p buildcontrol.Paused) *api.Paused {
	out := &api.Paused{Since: p.Since, Resources: []string{}, Files: p.Files, TiltfileFiles: p.Tiltfile}
	for _, name := range p.Resources {
		out.Resources = append(out.Resources, string(name))
	}
	return out
}

func resource(v store.View, s *status.Resource) api.Resource {
	m, u, e := s.Manifest, s.Updates, s.Entry
	r := api.Resource{
		Name: e.ID, Type: status.Type(*m), Cluster: state.ClusterName(v, m.Cluster()), Labels: m.Labels, TriggerMode: m.TriggerMode.String(), Phase: string(e.Phase), Disabled: !e.Value.Enabled,
		Status: string(s.State), Error: s.Err(), UpdateStatus: string(s.Update),
		RuntimeStatus: string(s.Runtime.Status), RuntimeText: s.Runtime.Text, RuntimeError: s.Runtime.Err,
	}
	if r.Disabled {
		return r
	}
	r.PendingFiles, r.PortForwards, r.Lag, r.Waiting = state.AllChanges(u.Pending()), page.Forwards(s), lag(s), s.Waiting()
	if p := state.Processes.In(v).Ref(e.ID); p != nil {
		r.Process = process(p.Value)
	}
	if e := state.Restarts.In(v).Ref(e.ID); e != nil {
		s := e.Value
		r.Restart = &api.Restart{Pods: s.Pods, RequestedAt: s.RequestedAt, FinishedAt: s.EndedAt, Done: s.Done, Error: s.Err}
	}
	if u.Current != nil {
		r.CurrentBuild = build(*u.Current)
	}
	for _, b := range u.Builds {
		r.BuildHistory = append(r.BuildHistory, *build(b))
	}
	for _, b := range u.Past {
		r.EarlierBuilds = append(r.EarlierBuilds, *build(b))
	}
	for _, p := range state.PodsOf(v, m.Name) {
		r.Pods = append(r.Pods, api.Pod{Name: p.Name, Namespace: p.Namespace, Status: p.Status, Ready: p.Ready,
			Current: p.Current, Restarts: p.Restarts(), CreatedAt: p.CreatedAt})
	}
	return r
}

func process(p state.Process) *api.Process {
	out := &api.Process{State: string(p.State), PID: p.PID, Ready: p.Ready, Detail: p.Detail, StartedAt: p.StartedAt}
	if p.State == state.ProcessFailed {
		out.ExitCode = &p.ExitCode
	}
	return out
}

func progress(p model.BuildProgress) *api.Progress {
	if p.Kind == "" {
		return nil
	}
	return &api.Progress{Kind: string(p.Kind), Image: p.Image, Nth: p.Nth, Images: p.Images, Step: p.Step, Steps: p.Steps,
		Percent: p.Percent, Waits: p.Waits}
}

func build(b state.Build) *api.Build {
	return &api.Build{Serial: b.Serial, Mode: b.Mode, Reason: b.Because(), Files: b.Files, Stage: b.Stage, Progress: progress(b.Progress),
		StartedAt: b.StartedAt, FinishedAt: b.FinishedAt, Error: b.Err, Cancelled: b.Cancelled, FellBack: b.FellBack,
		Containers: events.Containers(b.Containers)}
}
