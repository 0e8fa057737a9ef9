package projection

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const kindTiltfile = "Tiltfile"

func tiltfile() Kind {
	type object = *v1alpha1.Tiltfile
	return Kind{
		Name: kindTiltfile, ShortNames: []string{"tf"},
		Doc:    "Tiltfile is the evaluation of the Tiltfile. Setting its arguments evaluates it again.",
		Tables: tables(state.Sessions),
		Items: func(v store.View) iter.Seq[Item] {
			s := sourceOf(v)
			if s.tiltfile.ID == "" {
				return inOrder(nil)
			}
			e := state.Sessions.In(v).Value(state.Only)
			made := digest(0).entry(&s.tiltfile.Meta).word(strings.Join(e.Args, "\x00")).number(uint64(len(e.Args)))
			return inOrder([]Item{item(s, kindTiltfile, string(model.TiltfileName), made,
				func() *v1alpha1.Tiltfile { return makeTiltfile(s, e.Args) })})
		},
		New: func() Object { return &v1alpha1.Tiltfile{} },
		Columns: []Column{
			column("Status", "The status of the evaluation.", func(o object) any { return tiltfileWord(o.Status) }),
			column("Path", "The file.", func(o object) any { return o.Spec.Path }),
			column("Args", "The arguments of the Tiltfile.", func(o object) any { return strings.Join(o.Spec.Args, " ") }),
		},
		Write: writeTiltfile,
	}
}

func tiltfileWord(st v1alpha1.TiltfileStatus) string {
	switch {
	case st.Running != nil:
		return "running"
	case st.Waiting != nil:
		return "waiting"
	case st.Terminated == nil:
		return ""
	case st.Terminated.Error != "":
		return "error"
	}
	return "ok"
}

func makeTiltfile(s *source, args []string) *v1alpha1.Tiltfile {
	t := &s.tiltfile.Value
	o := &v1alpha1.Tiltfile{ObjectMeta: metaOf(&s.tiltfile.Meta, nil)}
	o.Spec = v1alpha1.TiltfileSpec{Path: t.Path, Args: slices.Clone(args),
		RestartOn: &v1alpha1.RestartOnSpec{FileWatches: []string{targetName(configsID)}}}
	switch {
	case t.Running():
		o.Status.Running = &v1alpha1.TiltfileStateRunning{StartedAt: micro(t.StartedAt)}
	case t.Pending():
		o.Status.Waiting = &v1alpha1.TiltfileStateWaiting{Reason: t.Reason()}
	case t.Loaded:
		o.Status.Terminated = &v1alpha1.TiltfileStateTerminated{StartedAt: micro(t.StartedAt), FinishedAt: micro(t.FinishedAt),
			Error: t.Err, WarningCount: int32(len(t.Warnings))}
	}
	return o
}

// tiltfileAsResource returns the evaluation as the resource that users see.
func tiltfileAsResource(s *source) *v1alpha1.UIResource {
	t := &s.tiltfile.Value
	o := &v1alpha1.UIResource{ObjectMeta: metaOf(&s.tiltfile.Meta, nil)}
	st := &o.Status
	is := status.OfTiltfile(*t)
	st.State, st.Message, st.RuntimeStatus, st.UpdateStatus = string(is.State), cmp.Or(is.Text, is.Err), string(buildcontrol.RuntimeNotApplicable), string(is.Update)
	st.HasPendingChanges, st.Queued = !t.Changed.Empty(), !t.Triggered.IsZero()
	st.DisableStatus = v1alpha1.DisableResourceStatus{State: v1alpha1.DisableStateEnabled, EnabledCount: 1}
	switch {
	case t.Running():
		st.CurrentBuild = &v1alpha1.UIBuildRunning{StartTime: micro(t.StartedAt), SpanID: t.Span}
	case t.Loaded:
		st.BuildHistory = []v1alpha1.UIBuildTerminated{{Error: t.Err, Warnings: slices.Clone(t.Warnings), StartTime: micro(t.StartedAt),
			FinishTime: micro(t.FinishedAt), SpanID: t.Span}}
	}
	for _, c := range []struct {
		name string
		met  bool
	}{{v1alpha1.UIResourceUpToDate, is.Update.Done()}, {v1alpha1.UIResourceReady, is.Update.Done()}, {v1alpha1.UIResourceFailed, is.Update == status.UpdateError}} {
		st.Conditions = append(st.Conditions, condition(c.name, is.Condition(c.met), micro(t.FinishedAt)))
	}
	return o
}

// declared lists an object for each declaration of the Tiltfile in list that has accepts. These declarations have no table of
// their own.
func declared[M any, O Object](s *source, kind string, list []M, has func(*M) bool, meta func(*M) (string, model.Meta), create func(*M) O) iter.Seq[Item] {
	var items []Item
	for i := range list {
		m := &list[i]
		if !has(m) {
			continue
		}
		name, extra := meta(m)
		// The result of an evaluation does not change, so a pointer into it identifies the value.
		items = append(items, Item{Name: name, Key: Key{Of: m, secrets: s.secrets}, Maker: MakeFunc(func() Object {
			o := create(m)
			o.SetLabels(extra.Labels)
			o.SetAnnotations(extra.Annotations)
			o.SetCreationTimestamp(metaOf(&s.tiltfile.Meta, nil).CreationTimestamp)
			return finish(s, kind, name, o)
		})})
	}
	return inOrder(items)
}
