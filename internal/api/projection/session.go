package projection

import (
	"cmp"
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// sessionName is the name of the Session and of the UISession: the file name of the Tiltfile.
const sessionName = "Tiltfile"

func session() Kind {
	type object = *v1alpha1.Session
	return Kind{
		Name:   "Session",
		Doc:    "Session is one run of hone: its command line, what it waits for, and how it ended.",
		Tables: decidingTables(),
		Items:  sessions,
		New:    func() Object { return &v1alpha1.Session{} },
		Columns: []Column{
			column("PID", "The process ID.", func(o object) any { return o.Status.PID }),
			column("Exit", "The condition on which it ends.", func(o object) any { return o.Spec.ExitCondition }),
			column("Done", "Whether it has ended.", func(o object) any { return o.Status.Done }),
			column("Error", "Why it failed.", func(o object) any { return o.Status.Error }),
			wide(column("Tiltfile", "The file.", func(o object) any { return o.Spec.TiltfilePath })),
		},
		Write: readOnly("sessions", "the command line determines the session; to end it: hone stop"),
	}
}

// sessions lists the only session. The session depends on nearly everything, so the versions of the tables are its digest.
func sessions(v store.View) iter.Seq[Item] {
	s := sourceOf(v)
	e := state.Sessions.In(v).Ref(state.Only)
	if e == nil {
		return inOrder(nil)
	}
	made := digest(0).entry(&e.Meta)
	for _, name := range decidingTables() {
		made = made.number(v.Version(name))
	}
	return inOrder([]Item{item(s, "Session", sessionName, made, func() *v1alpha1.Session { return makeSession(s, e) })})
}

func makeSession(s *source, e *store.Entry[state.Session]) *v1alpha1.Session {
	x := e.Value
	o := &v1alpha1.Session{ObjectMeta: metaOf(&e.Meta, nil)}
	o.Spec = v1alpha1.SessionSpec{TiltfilePath: x.Tiltfile, ExitCondition: v1alpha1.ExitConditionManual}
	if x.Command == state.CommandCI {
		ci := s.tiltfile.Value.Result.CI
		o.Spec.ExitCondition = v1alpha1.ExitConditionCI
		o.Spec.CI = &v1alpha1.SessionCISpec{
			K8sGracePeriod:   &metav1.Duration{Duration: ci.GracePeriod},
			Timeout:          &metav1.Duration{Duration: cmp.Or(x.CITimeout, ci.Timeout, model.DefaultCISettings.Timeout)},
			ReadinessTimeout: &metav1.Duration{Duration: cmp.Or(ci.ReadinessTimeout, model.DefaultCISettings.ReadinessTimeout)},
		}
	}
	o.Status = v1alpha1.SessionStatus{PID: int64(x.PID), StartTime: micro(x.StartedAt), Targets: targets(s)}
	if x.Ended != nil {
		o.Status.Done, o.Status.Error = true, x.Ended.Failure
	}
	return o
}

// targets returns the parts of the session that it waits for.
func targets(s *source) []v1alpha1.Target {
	out := []v1alpha1.Target{{Name: "tiltfile:update", Type: v1alpha1.TargetTypeJob, Resources: []string{string(model.TiltfileName)},
		State: tiltfileTarget(&s.tiltfile.Value)}}
	rows := rowsOf(s.View, withPods|withHolds)
	for i := range rows {
		r := &rows[i]
		out = append(out, v1alpha1.Target{Name: r.ID + ":update", Type: v1alpha1.TargetTypeJob, Resources: []string{r.ID}, State: updateTarget(r)})
		if t, ok := runtimeTarget(s, r); ok {
			out = append(out, t)
		}
	}
	return out
}

func tiltfileTarget(t *state.Tiltfile) v1alpha1.TargetState {
	switch {
	case t.Running():
		return active(t.StartedAt, false)
	case !t.Loaded:
		return waits("initial-build")
	}
	return terminated(t.StartedAt, t.FinishedAt, t.Err)
}

func updateTarget(r *row) v1alpha1.TargetState {
	u := &r.update.Value
	last, built := r.last()
	switch {
	case !r.Value.Enabled:
		return v1alpha1.TargetState{Disabled: &v1alpha1.TargetStateDisabled{}}
	case u.Current != nil:
		return active(u.Current.StartedAt, false)
	case r.hold != nil:
		return waits(string(r.hold.Reason))
	case r.outdated:
		return waits("tested-resources")
	case !built && !r.Value.Manifest.AutoInit:
		return waits("trigger")
	case !built:
		return waits("initial-build")
	}
	return terminated(last.StartedAt, last.FinishedAt, last.Err)
}

// runtimeTarget returns the target for the runtime of a resource; ok is false for a resource that leaves nothing running.
func runtimeTarget(s *source, r *row) (t v1alpha1.Target, ok bool) {
	m, u, pods := &r.Value.Manifest, &r.update.Value, r.pods.Values()
	t = v1alpha1.Target{Name: r.ID + ":runtime", Type: v1alpha1.TargetTypeServer, Resources: []string{r.ID}}
	if m.K8s != nil && m.K8s.PodReadiness == model.PodSucceeded {
		t.Type = v1alpha1.TargetTypeJob
	}
	if !r.Value.Enabled {
		t.State.Disabled = &v1alpha1.TargetStateDisabled{}
		return t, !m.IsLocal() || !m.Local.Serve.Empty()
	}
	run := buildcontrol.Runtime(s.View, *m, *u, pods)
	began := u.AppliedAt
	if m.IsLocal() {
		began = state.Processes.In(s.View).Value(r.ID).StartedAt
	}
	switch run.Status {
	case buildcontrol.RuntimeNotApplicable:
		return t, false
	case buildcontrol.RuntimeOK:
		t.State = active(began, true)
		if t.Type == v1alpha1.TargetTypeJob {
			t.State = terminated(began, readySince(began, pods, run), "")
		}
	case buildcontrol.RuntimeError:
		t.State = terminated(began, cmp.Or(run.FailingSince, began), cmp.Or(run.Err, run.Text))
	case buildcontrol.RuntimePending:
		t.State = active(began, false)
	default:
		t.State = waits("waiting-for-update")
	}
	return t, true
}

func waits(reason string) v1alpha1.TargetState {
	return v1alpha1.TargetState{Waiting: &v1alpha1.TargetStateWaiting{WaitReason: reason}}
}

func active(since time.Time, ready bool) v1alpha1.TargetState {
	return v1alpha1.TargetState{Active: &v1alpha1.TargetStateActive{StartTime: micro(since), Ready: ready}}
}

func terminated(from, to time.Time, failure string) v1alpha1.TargetState {
	return v1alpha1.TargetState{Terminated: &v1alpha1.TargetStateTerminated{StartTime: micro(from), FinishTime: micro(to), Error: failure}}
}

func uiSession() Kind {
	type object = *v1alpha1.UISession
	return Kind{
		Name:   "UISession",
		Doc:    "UISession is the information that a user interface shows about the session as a whole.",
		Tables: tables(state.Sessions),
		Items: func(v store.View) iter.Seq[Item] {
			return rename(each(sourceOf(v), "UISession", state.Sessions.In(v), makeUISession), sessionName)
		},
		New: func() Object { return &v1alpha1.UISession{} },
		Columns: []Column{
			column("Version", "The version of hone.", func(o object) any { return o.Status.RunningTiltBuild.Version }),
			column("Started", "When the session began.", func(o object) any { return o.Status.TiltStartTime.Time }),
			column("Tiltfile", "The file.", func(o object) any { return o.Status.TiltfileKey }),
		},
		Write: readOnly("uisessions", "it shows the status of the session"),
	}
}

func makeUISession(e *store.Entry[state.Session]) *v1alpha1.UISession {
	x := e.Value
	o := &v1alpha1.UISession{ObjectMeta: metaOf(&e.Meta, nil)}
	o.Status = v1alpha1.UISessionStatus{RunningTiltBuild: v1alpha1.TiltBuild{Version: x.Version},
		TiltStartTime: metav1.NewTime(x.StartedAt), TiltfileKey: x.Tiltfile}
	if x.Ended != nil {
		o.Status.FatalError = x.Ended.Failure
	}
	return o
}

// rename gives the object of a table with a single entry a name that users know.
func rename(items iter.Seq[Item], name string) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for i := range items {
			create := i.Make
			if !yield(Item{Name: name, Key: i.Key, Maker: MakeFunc(func() Object {
				o := create()
				o.SetName(name)
				return o
			})}) {
				return
			}
		}
	}
}
