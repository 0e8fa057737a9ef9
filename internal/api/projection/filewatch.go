package projection

import (
	"iter"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const kindFileWatch = "FileWatch"

// configsID is the target for the files of the Tiltfile.
var configsID = model.TargetID{Type: model.TargetConfigs, Name: string(model.TiltfileName)}

// targetName returns the name of the file watch of a target.
func targetName(id model.TargetID) string { return safeName(id.String()) }

func fileWatch() Kind {
	type object = *v1alpha1.FileWatch
	return Kind{
		Name: kindFileWatch, ShortNames: []string{"fw"},
		Doc:    "FileWatch is a set of files that is watched for changes: a declared set, or the files that a target of a resource depends on.",
		Tables: tables(state.FileWatches, state.ConfigMaps, state.Resources, state.Updates, state.Watches),
		Items:  fileWatches,
		New:    func() Object { return &v1alpha1.FileWatch{} },
		Columns: []Column{
			column("Paths", "How many files and folders it watches.", func(o object) any { return len(o.Spec.WatchedPaths) }),
			column("Event", "When something last changed.", func(o object) any { return o.Status.LastEventTime.Time }),
			column("Error", "Why the files cannot be watched.", func(o object) any { return o.Status.Error }),
		},
		Write: writeFileWatch,
	}
}

func fileWatches(v store.View) iter.Seq[Item] {
	s := sourceOf(v)
	trouble := state.Watches.In(v).Value(state.Only).Problem
	var items []Item
	for e := range state.FileWatches.In(v).Refs() {
		off := state.Off(v, e.Value.Disable)
		items = append(items, item(s, kindFileWatch, e.ID, switchable(&e.Meta, off).word(trouble), func() *v1alpha1.FileWatch {
			o := makeFileWatch(e, off)
			o.Status.Error = trouble
			return o
		}))
	}
	if s.tiltfile.ID != "" {
		items = append(items, tiltfileWatch(s, trouble))
	}
	seen := map[model.TargetID]bool{} // images are shared
	for _, r := range rowsOf(v, 0) {
		if !r.Value.Enabled || r.Phase != store.Running {
			continue
		}
		for id, spec := range watched(&r.Value.Manifest) {
			if len(spec.Paths) == 0 || seen[id] {
				continue
			}
			seen[id] = true
			items = append(items, item(s, kindFileWatch, targetName(id), r.made.word(r.ID).word(trouble), func() *v1alpha1.FileWatch {
				o := targetWatch(&r, id, spec)
				o.Status.Error = trouble
				return o
			}))
		}
	}
	return inOrder(items)
}

// watched yields the targets of a manifest with the files that they depend on.
func watched(m *model.Manifest) iter.Seq2[model.TargetID, model.WatchSpec] {
	return func(yield func(model.TargetID, model.WatchSpec) bool) {
		for _, im := range m.Images {
			if !yield(im.ID(), im.Watch) {
				return
			}
		}
		switch {
		case m.Local != nil:
			yield(m.DeployID(), m.Local.Watch)
		case m.Compose != nil:
			yield(m.DeployID(), m.Compose.Watch)
		case m.CustomDeploy() != nil:
			yield(m.DeployID(), m.K8s.CustomDeploy.Watch)
		}
	}
}

func makeFileWatch(e *store.Entry[state.FileWatch], off bool) *v1alpha1.FileWatch {
	w := &e.Value
	o := &v1alpha1.FileWatch{ObjectMeta: metaOf(&e.Meta, w.Annotations), Spec: watchSpec(w.Watch)}
	o.Spec.DisableSource = disableSource(w.Disable)
	o.Status.DisableStatus = disableStatus(off)
	o.Status.MonitorStartTime, o.Status.LastEventTime = micro(e.Created), micro(w.ChangedAt)
	if w.Changes > 0 {
		o.Status.FileEvents = []v1alpha1.FileEvent{{Time: micro(w.ChangedAt), SeenFiles: slices.Clone(w.Files)}}
	}
	return o
}

func tiltfileWatch(s *source, trouble string) Item {
	t := &s.tiltfile.Value
	return item(s, kindFileWatch, targetName(configsID), digest(0).entry(&s.tiltfile.Meta).word(trouble), func() *v1alpha1.FileWatch {
		o := &v1alpha1.FileWatch{ObjectMeta: metaOf(&s.tiltfile.Meta, nil)}
		o.Spec = watchSpec(model.WatchSpec{Paths: t.ConfigFiles, Ignores: t.Ignores})
		o.Status = events(t.Changed)
		o.Status.MonitorStartTime, o.Status.Error = micro(s.tiltfile.Created), trouble
		return o
	})
}

func targetWatch(r *row, id model.TargetID, spec model.WatchSpec) *v1alpha1.FileWatch {
	o := &v1alpha1.FileWatch{ObjectMeta: metaOfResource(r.Entry), Spec: watchSpec(spec)}
	o.Spec.DisableSource = disableOfResource(r.ID)
	o.Status = events(r.update.Value.Changes[id])
	o.Status.MonitorStartTime, o.Status.DisableStatus = micro(r.Created), disableStatusOf(r.Entry)
	return o
}

// events converts changes to a status with one event per time.
func events(changes state.Changes) v1alpha1.FileWatchStatus {
	byTime := map[time.Time][]string{}
	for p, at := range changes.All() {
		byTime[at] = append(byTime[at], p)
	}
	var st v1alpha1.FileWatchStatus
	for at, files := range byTime {
		slices.Sort(files)
		st.FileEvents = append(st.FileEvents, v1alpha1.FileEvent{Time: micro(at), SeenFiles: files})
		if at.After(st.LastEventTime.Time) {
			st.LastEventTime = micro(at)
		}
	}
	slices.SortFunc(st.FileEvents, func(a, b v1alpha1.FileEvent) int { return a.Time.Compare(b.Time.Time) })
	return st
}

func watchSpec(w model.WatchSpec) v1alpha1.FileWatchSpec {
	return v1alpha1.FileWatchSpec{WatchedPaths: slices.Clone(w.Paths), Ignores: ignores(w.Ignores)}
}

func ignores(list []model.Ignore) []v1alpha1.IgnoreDef {
	var out []v1alpha1.IgnoreDef
	for _, i := range list {
		out = append(out, v1alpha1.IgnoreDef{BasePath: i.Base, Patterns: slices.Clone(i.Patterns)})
	}
	return out
}
