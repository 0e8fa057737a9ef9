package server

import (
	"slices"

	"github.com/hone-dev/hone/internal/api/page"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// View returns the session as the API shows it.
func View(v store.View, version string) api.View {
	t, c, session := state.TheTiltfile(v), state.TheCluster(v), state.TheSession(v)
	out := api.View{
		Version: version, Tiltfile: session.Tiltfile, Context: c.Context, Namespace: c.Namespace, StartedAt: session.StartedAt,
		TiltfileError: t.Err, EngineError: state.TheEngine(v).Err,
		WatchError: state.Watches.In(v).Value(state.Only).Problem,
		Buttons:    page.Buttons(v), Commands: commands(v),
		Resources: []api.Resource{}, Subscribers: []api.Subscriber{}, // JSON lists even when they are empty
	}
	if state.NeedsCluster(v) {
		out.ClusterError = c.Err
	}
	if p, ok := buildcontrol.PausedOf(v); ok {
		out.Paused = paused(p)
	}
	for e := range state.Subscribers.In(v).Entries() {
		out.Subscribers = append(out.Subscribers, api.Subscriber{Name: e.ID, State: string(e.Value.State),
			Crashes: e.Value.Crashes, Error: e.Value.Err})
	}
	services := map[model.ManifestName][]string{}
	for e := range state.Services.In(v).Entries() {
		if e.Value.URL != "" {
			services[e.Value.Resource] = append(services[e.Value.Resource], e.Value.URL)
		}
	}
	holds := buildcontrol.Decide(v, nil).Holds
	forwards := map[model.ManifestName][]api.Forward{}
	for e := range state.Forwards.In(v).Entries() {
		f := e.Value
		forwards[f.Resource] = append(forwards[f.Resource], api.Forward{LocalPort: f.Spec.LocalPort, Address: f.Spec.Address(),
			Added: state.Resources.In(v).Value(string(f.Resource)).AddedForward(f.Spec), URL: f.URL, Pod: f.Pod, State: string(f.State), Error: f.Err})
	}
	synclets := map[model.ManifestName][]api.Synclet{}
	for e := range state.Synclets.In(v).Entries() {
		s := e.Value
		synclets[s.Resource] = append(synclets[s.Resource], api.Synclet{Pod: s.Pod, Container: s.Container, State: s.State,
			Way: s.Way, Passed: s.Passed, Error: s.Err})
	}
	pods := state.PodsByResource(v)
	for _, e := range state.InOrder(v) {
		u := state.Updates.In(v).Value(e.ID)
		r := resource(v, e, u, holds, pods[model.ManifestName(e.ID)], forwards)
		r.ServiceURLs = services[model.ManifestName(e.ID)]
		r.Synclets = synclets[model.ManifestName(e.ID)]
		out.Resources = append(out.Resources, r)
	}
	for e := range state.Disabled(v) {
		out.Resources = append(out.Resources, disabled(e))
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

// disabled returns a disabled resource as the API shows it.
func disabled(e *store.Entry[state.Resource]) api.Resource {
	m := e.Value.Manifest
	return api.Resource{Name: e.ID, Type: kindOf(m), Labels: m.Labels, TriggerMode: m.TriggerMode.String(), Phase: string(e.Phase),
		Disabled: true, UpdateStatus: "none", RuntimeStatus: string(buildcontrol.RuntimeNone)}
}

func kindOf(m model.Manifest) string {
	switch {
	case m.IsLocal():
		return "local"
	case m.IsCompose():
		return "compose"
	}
	return "k8s"
}

func resource(v store.View, e store.Entry[state.Resource], u state.Update, holds map[model.ManifestName]buildcontrol.Hold,
	pods []state.Pod, forwards map[model.ManifestName][]api.Forward) api.Resource {
	m := e.Value.Manifest
	run := buildcontrol.Known(v, m, buildcontrol.Runtime(v, m, u, pods))
	r := api.Resource{
		Name: e.ID, Type: kindOf(m), Labels: m.Labels, TriggerMode: m.TriggerMode.String(), Phase: string(e.Phase),
		UpdateStatus: buildcontrol.UpdateStatus(u), RuntimeStatus: string(run.Status), RuntimeText: run.Text, RuntimeError: run.Err,
		PendingFiles: state.AllChanges(u.Pending()), PortForwards: forwards[m.Name],
		Lag: lag(m, u, pods),
	}
	for _, p := range state.Published(m, pods) {
		f := api.Forward{LocalPort: p.Published, URL: p.URL(), State: string(state.ForwardWaiting)}
		if slices.ContainsFunc(pods, func(o state.Pod) bool { return o.Current && o.Ready }) {
			f.State = string(state.ForwardReady)
		}
		r.PortForwards = append(r.PortForwards, f)
	}
	if h, ok := holds[m.Name]; ok {
		r.Waiting = &api.Waiting{Reason: string(h.Reason), Text: h.String()}
		for _, n := range h.On {
			r.Waiting.On = append(r.Waiting.On, string(n))
		}
	}
	if p, ok := state.Processes.In(v).Get(e.ID); ok {
		r.Process = process(p.Value)
	}
	if e, ok := state.Restarts.In(v).Get(e.ID); ok {
		s := e.Value
		r.Restart = &api.Restart{Pods: s.Pods, RequestedAt: s.RequestedAt, FinishedAt: s.EndedAt, Done: s.Done, Error: s.Err}
	}
	if u.Current != nil {
		r.CurrentBuild = build(*u.Current)
	}
	for _, b := range u.Builds {
		r.BuildHistory = append(r.BuildHistory, *build(b))
	}
	for _, p := range pods {
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
	return &api.Build{Serial: b.Serial, Mode: b.Mode, Reason: b.Reason.String(), Files: b.Files, Stage: b.Stage, Progress: progress(b.Progress),
		StartedAt: b.StartedAt, FinishedAt: b.FinishedAt, Error: b.Err, Cancelled: b.Cancelled, FellBack: b.FellBack,
		Containers: events.Containers(b.Containers)}
}
