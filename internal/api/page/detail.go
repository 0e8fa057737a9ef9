package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Detail returns everything about a resource that its row does not have; ok is false if there is no such resource.
func Detail(v store.View, name string) (d api.PageDetail, ok bool) {
	d.Name = name
	t := state.TheTiltfile(v)
	if name == string(model.TiltfileName) {
		d.Description, d.Warnings, d.ConfigFiles = state.TheSession(v).Tiltfile, t.Warnings, state.Relative(t.Path, t.ConfigFiles)
		d.Files = state.Relative(t.Path, state.PathsOf(t.Changed))
		for _, e := range t.Evaluations {
			d.Updates = append(d.Updates, evaluation(e))
		}
		return d, true
	}
	e := state.Resources.In(v).Ref(name)
	if e == nil {
		return d, false
	}
	m, u := e.Value.Manifest, state.Updates.In(v).Value(name)
	d.Files = state.Relative(t.Path, state.AllChanges(u.Pending()))
	if u.Current != nil {
		d.Updates = append(d.Updates, build(*u.Current))
	}
	for _, b := range u.Builds {
		d.Updates = append(d.Updates, build(b))
	}
	for _, b := range u.Past {
		d.Earlier = append(d.Earlier, build(b))
	}
	d.Objects = objects(u, state.Drifts.In(v).Value(name))
	for _, im := range m.Images {
		d.Images = append(d.Images, api.PageImage{Name: im.Ref, BuiltOn: im.DependsOn, Deployed: u.Running[im.Ref].Cluster})
	}
	if err := intent.Forwardable(v, name); err != nil {
		d.NoForwards = err.Error()
	}
	for _, p := range state.PodsOf(v, m.Name) {
		d.Pods = append(d.Pods, pod(p))
	}
	for _, k := range state.ClusterEvents.In(v).Value(name).List {
		d.Events = append(d.Events, api.PageEvent{Warning: k.Warning, Reason: k.Reason, Message: k.Message,
			Object: strings.ToLower(k.Object.Kind) + "/" + k.Object.Name, Count: k.Count, FirstSeen: k.FirstSeen, LastSeen: k.LastSeen})
	}
	for _, c := range t.Result.Declared[m.Name] {
		file := c.File
		if rel := state.Relative(t.Path, []string{c.File}); len(rel) == 1 {
			file = rel[0]
		}
		d.Definition = append(d.Definition, api.PageDeclaration{Call: c.Call, File: file, Line: c.Line, Source: c.Source})
	}
	for o := range state.Resources.In(v).Refs() {
		if slices.Contains(o.Value.Manifest.ResourceDeps, m.Name) {
			d.NeededBy = append(d.NeededBy, o.ID)
		}
	}
	if m.IsLocal() {
		d.ServeCmd, d.UpdateCmd = m.Local.Serve.String(), m.Local.Update.String()
	}
	if p := state.Processes.In(v).Ref(name); p != nil {
		s := p.Value
		d.Process = &api.Process{State: string(s.State), PID: s.PID, Ready: s.Ready, Detail: s.Detail, StartedAt: s.StartedAt}
		if s.State == state.ProcessFailed {
			d.Process.ExitCode = &s.ExitCode
		}
	}
	return d, true
}

// objects returns the objects that a resource has applied, with the changes that others have made to them.
func objects(u state.Update, drift state.Drift) []api.PageObject {
	var out []api.PageObject
	for _, o := range u.Applied {
		out = append(out, api.PageObject{Kind: o.Kind, Name: o.Name, Namespace: o.Namespace})
	}
	for _, o := range drift.Objects {
		shown := api.PageObject{Kind: o.Object.Kind, Name: o.Object.Name, Namespace: o.Object.Namespace, What: string(o.What), Reason: o.Reason,
			Since: o.Since, Fields: o.Fields, Keep: o.Keep}
		same := func(a api.PageObject) bool {
			return a.Kind == shown.Kind && a.Name == shown.Name && a.Namespace == shown.Namespace
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i] = shown
		} else {
			out = append(out, shown)
		}
	}
	return out
}

// evaluation returns an evaluation of the Tiltfile as an update.
func evaluation(e state.Evaluation) api.PageBuild {
	out := api.PageBuild{PageUpdate: api.PageUpdate{Serial: e.Serial, Mode: "evaluation", Reason: strings.ToLower(e.Reason), Files: e.Files[:min(len(e.Files), namedFiles)],
		FileCount: len(e.Files), StartedAt: e.StartedAt, FinishedAt: e.FinishedAt, Error: e.Err, Warnings: e.Warnings}, AllFiles: e.Files, Span: e.Span, Resources: e.Resources}
	if !e.FinishedAt.IsZero() {
		out.Milliseconds = milliseconds(e.FinishedAt.Sub(e.StartedAt))
	}
	return out
}

// build returns an update with its stages; for an update in place, they are the stages of the slowest container.
func build(b state.Build) api.PageBuild {
	out := api.PageBuild{PageUpdate: *update(b), AllFiles: b.Files, Output: b.Output, Span: b.Span, Containers: len(b.Containers)}
	if b.Problem != nil {
		out.Mend = b.Problem.Mend
	}
	if slow, ok := slowest(b.Containers); ok {
		for _, s := range slow.Stages.All() {
			out.Stages = append(out.Stages, api.PageStage{Name: s.Name, Milliseconds: milliseconds(s.Took)})
		}
		return out
	}
	images := map[string]bool{}
	for _, s := range b.Steps {
		images[s.What] = s.What != ""
	}
	for _, s := range b.Steps {
		name := string(s.Kind)
		if len(images) > 2 && s.What != "" {
			name += " " + s.What
		}
		out.Stages = append(out.Stages, api.PageStage{Name: name, Milliseconds: milliseconds(s.Took)})
	}
	if !b.ReadyAt.IsZero() && !b.FinishedAt.IsZero() && len(b.Steps) > 0 {
		out.Stages = append(out.Stages, api.PageStage{Name: "ready", Milliseconds: milliseconds(max(b.ReadyAt.Sub(b.FinishedAt), 0))})
	}
	return out
}

func pod(p state.Pod) api.PagePod {
	why, failing := state.PodFailure(p.Pod)
	out := api.PagePod{Name: p.Name, Namespace: p.Namespace, Status: p.Status, Ready: p.Ready, Current: p.Current, Deleting: p.Deleting, Failing: failing,
		Why: cmp.Or(why, state.NotReady(p), p.Message), Node: p.NodeName, CreatedAt: p.CreatedAt}
	if p.Ready {
		out.Why = ""
	}
	for _, c := range p.AllContainers() {
		shown := api.PageContainer{Name: c.Name, Kind: "ordinary", State: string(c.State), Reason: c.Reason, Message: c.Message, Ready: c.Ready,
			Restarts: c.Restarts, LastReason: c.LastReason, Image: c.Image, StartedAt: c.StartedAt}
		switch {
		case c.Sidecar:
			shown.Kind = "sidecar"
		case c.Init:
			shown.Kind = "init"
		}
		if c.State == model.ContainerTerminated {
			shown.ExitCode = &c.ExitCode
		}
		if c.LastReason != "" {
			shown.LastExitCode = &c.LastExitCode
		}
		out.Containers = append(out.Containers, shown)
	}
	return out
}
