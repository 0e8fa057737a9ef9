package buildcontroller

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// Asked returns the request for the update of a resource, without the parts that only a running update has. A plan of the session
// shows this request, and the session carries it out: both begin with the same.
func Asked(v store.View, c buildcontrol.Candidate, o Options) buildanddeploy.Request {
	m := state.Resources.In(v).Value(string(c.Name)).Manifest
	u := state.Updates.In(v).Value(string(c.Name))
	lanes := buildcontrol.LanesOf(&m, &u, state.PodsOf(v, c.Name))
	session, tiltfile, adopt := state.TheSession(v), state.TheTiltfile(v), !u.Adopt.IsZero()
	// Without a change, a trigger asks for new pods, unless it lets pending changes through or has objects taken over.
	replaces := c.Reason.Has(state.ReasonTrigger) && len(c.Files) == 0 && !adopt
	req := buildanddeploy.Request{
		Manifest: m, Mode: session.UpdateMode, InPlace: c.InPlace, InPlaceOnly: c.InPlaceOnly,
		Force:   c.Reason.Has(state.ReasonRebuild) || replaces && m.TriggerMode == model.TriggerAuto,
		NoCache: c.Reason.Has(state.ReasonRebuild), BuildOnly: c.BuildOnly(), Reuse: o.Reuse, Recall: o.Recall && recalls(m, u),
		Results: u.Images, Dirty: map[string]bool{}, Overlaid: lanes.Overlaid(),
		Cluster: state.ClusterOf(v, m).Cluster, Registry: tiltfile.Result.RegistryFor(m.Cluster()), Cache: tiltfile.Result.ImageCache, Builder: tiltfile.Result.Builder,
		Namespace: state.NamespaceOn(v, m.Cluster(), o.Namespace), UpsertTimeout: tiltfile.Result.Update.UpsertTimeout, Env: o.Env, Ignores: tiltfile.Ignores,
		Adopt: o.Adopt || adopt, Restoring: c.Reason.Has(state.ReasonRestore) || c.Reason.Has(state.ReasonKeep),
		Reclaim: c.Reason.Has(state.ReasonRestore),
	}
	for _, im := range m.Images {
		req.Dirty[im.Ref] = u.Dirty(im)
	}
	lacking := lanes.LackingFor(c)
	req.Lacking, req.Applied = lanes.LackingOfCommand(), state.SeenOf(v, u.Applied)
	if c.Reason.Has(state.ReasonBroken) {
		req.FellBack = u.InPlaceBroken
	}
	beside := lanes.Beside(lacking)
	req.Others, req.Peers, req.Absent = beside.Others, beside.Peers, c.Absent
	for _, l := range lacking {
		req.Waits = req.Waits || u.Lanes[l.ID].Fault != ""
		l.Arch = state.ArchOf(v, m)
		req.Containers = append(req.Containers, l)
	}
	return req
}

// recalls reports whether an image of an earlier session may do for an update: the first one of the session, since a resource that was
// switched off and on begins afresh. A container of Compose that is made from it would start with its old files.
func recalls(m model.Manifest, u state.Update) bool {
	begun := slices.ContainsFunc(u.Builds, func(b state.Build) bool { return !b.BuildOnly })
	return !begun && !m.IsCompose()
}

// request returns the request for a build that begins now: the result of Asked, with the parts that only a running update has.
func (s *Subscriber) request(rt *store.Runtime, v store.View, c buildcontrol.Candidate, b *build, log *updateLog) buildanddeploy.Request {
	u, session := state.Updates.In(v).Value(string(c.Name)), state.TheSession(v)
	req := Asked(v, c, s.options)
	req.StartedAt, req.Settled, req.Log = b.began, s.options.Settled, log
	req.Declared = func() []model.Manifest { return state.Declarations(rt.View()) }
	req.Chosen = func(name model.ManifestName) bool { return state.Chosen(rt.View())(name) }
	req.Commit = func() { b.committed.Store(true) }
	req.Progress = func(mode, stage string, at model.BuildProgress) {
		b.pace.report(state.BuildProgressed{Resource: c.Name, Serial: b.serial, Mode: mode, Stage: stage, Progress: at})
	}
	if b.basis != nil {
		req.Test = &buildanddeploy.TestRun{Inputs: inputsOf(v, req.Manifest, b.basis), Holds: func() bool { return !isVoid(rt.View(), c.Name, b) },
			Known: u.Triggered.IsZero() || !u.Known.IsZero()}
	}
	if session.Command == state.CommandCI {
		req.CollectLimit = ciCollectLimit // the session ends with the build, and nothing waits for the build meanwhile
	}
	if session.Command == state.CommandUp {
		req.AtRest = func() bool { return state.RestIn(rt.View(), time.Now()) == 0 }
	}
	req.Save = savesOf(u)
	ids := make([]string, len(req.Containers))
	for i, l := range req.Containers {
		ids[i] = l.ID
	}
	if c.InPlace && !b.underway.Part {
		req.Changed, req.Absorb = b.changed, func(since time.Time) *buildanddeploy.AbsorbedChanges {
			return absorbable(rt.View(), c.Name, ids, since, log)
		}
	}
	return req
}

// savesOf returns when files were saved and noticed, as buildanddeploy.Request has it. For files that waited for the user, both
// times are the end of the wait.
func savesOf(u state.Update) func([]string) (made, known time.Time) {
	return func(files []string) (made, known time.Time) {
		save := u.SaveOf(files)
		if let := u.LetAt(save.Known); !save.Known.IsZero() && !let.IsZero() {
			return let, let
		}
		return save.Made, save.Known
	}
}

// absorbable returns the later changes that a running update in place of containers can take in; nil if there are none.
func absorbable(v store.View, name model.ManifestName, containers []string, since time.Time, log *updateLog) *buildanddeploy.AbsorbedChanges {
	lacking := buildcontrol.Absorbable(v, name, containers, since)
	if len(lacking) == 0 {
		return nil
	}
	files := state.Relative(state.TheTiltfile(v).Path, buildcontrol.FilesOf(lacking))
	return &buildanddeploy.AbsorbedChanges{Until: v.At, Containers: lacking, Files: files, Save: savesOf(state.Updates.In(v).Value(string(name))),
		Taken: func() { log.meanwhile(files) }}
}
