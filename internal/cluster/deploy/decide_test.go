package deploy

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// change edits a declared or a live object.
type change func(*unstructured.Unstructured)

func called(kind, name string) change {
	return func(u *unstructured.Unstructured) { u.SetKind(kind); u.SetName(name) }
}

func with(key, value string) change {
	return func(u *unstructured.Unstructured) {
		m := u.GetAnnotations()
		if m == nil {
			m = map[string]string{}
		}
		m[key] = value
		u.SetAnnotations(m)
	}
}

func unlabelled(label string) change {
	return func(u *unstructured.Unstructured) {
		m := u.GetLabels()
		delete(m, label)
		u.SetLabels(m)
	}
}

func ownedBy(project string) change {
	return func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{LabelManagedBy: ManagedByHone, LabelProject: project, LabelResource: "web"})
	}
}

func byHelm(u *unstructured.Unstructured) {
	u.SetLabels(map[string]string{LabelManagedBy: "Helm"})
	u.SetAnnotations(nil)
}

func sharedBy(projects ...string) change {
	return func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{LabelManagedBy: ManagedByHone})
		for _, p := range projects {
			with(sharerPrefix+p, unheld)(u)
		}
		with(model.AnnotationShared, model.SharedTrue)(u)
	}
}

// decided is an object that project1 declares, and that exists as the same unless said otherwise.
func decided(edits ...change) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "conf", "namespace": "shop"}}}
	ownedBy("project1")(u)
	with(AnnotationAppliedHash, "hash")(u)
	with(AnnotationHolder, "alice@one")(u)
	for _, edit := range edits {
		edit(u)
	}
	return u
}

// TestDecisions: the decision for each kind of declared and live object, and its place in a plan.
func TestDecisions(t *testing.T) {
	absent := []change{nil}
	newer := with(AnnotationAppliedHash, "newer")
	for _, tc := range []struct {
		name           string
		declared, live []change // absent: it does not exist
		before         string   // the recorded UID; the live object has "uid"
		req            ApplyRequest
		again          bool
		want           verb
		plan           api.PlanAction
		why            string
	}{
		{name: "not there", live: absent, want: verbCreate, plan: api.ActionCreate},
		{name: "not there any more", live: absent, before: "uid", want: verbCreate, plan: api.ActionCreate},
		{name: "as declared", want: verbCurrent, plan: api.ActionUnchanged},
		{name: "as declared, and applied again", again: true, want: verbUpdate},
		{name: "changed", declared: []change{newer}, want: verbUpdate},

		{name: "read-only", declared: []change{with(model.AnnotationReadOnly, model.ReadOnlyTrue)}, live: []change{byHelm}, want: verbObserve, plan: api.ActionUnchanged, why: "declared read-only"},
		{name: "read-only, not there", declared: []change{with(model.AnnotationReadOnly, model.ReadOnlyTrue)}, live: absent, want: verbRefuse, plan: api.ActionBlocked,
			why: "configmap/conf does not exist, and hone may not create it: it is declared read-only"},
		{name: "once, new", declared: []change{with(model.AnnotationApply, model.ApplyOnce)}, live: absent, want: verbCreate, plan: api.ActionCreate},
		{name: "once, deleted", declared: []change{with(model.AnnotationApply, model.ApplyOnce)}, live: absent, before: "uid", want: verbSkip, plan: api.ActionUnchanged,
			why: "deleted since it was applied, and applied only once"},
		{name: "once, changed", declared: []change{newer, with(model.AnnotationApply, model.ApplyOnce)}, before: "uid", again: true, want: verbKeep, plan: api.ActionUnchanged, why: "applied only once"},
		{name: "once, of others", declared: []change{with(model.AnnotationApply, model.ApplyOnce)}, live: []change{byHelm}, want: verbRefuse, plan: api.ActionBlocked,
			why: `configmap/conf exists already: it is managed by "Helm"`},
		{name: "once, to run again", declared: []change{called("Pod", "conf"), with(model.AnnotationApply, model.ApplyOnce)}, live: []change{called("Pod", "conf")}, before: "uid", again: true,
			want: verbKeep, plan: api.ActionUnchanged, why: "applied only once"},

		{name: "to run again", declared: []change{called("Pod", "conf")}, live: []change{called("Pod", "conf")}, again: true, want: verbRerun, plan: api.ActionReplace, why: "only a new one runs again"},
		{name: "changed, and to run again", declared: []change{newer, called("Pod", "conf")}, live: []change{called("Pod", "conf")}, again: true, want: verbRerun, plan: api.ActionReplace, why: "only a new one runs again"},
		{name: "adopted, to run again", declared: []change{called("Pod", "conf")}, live: []change{called("Pod", "conf"), with(AnnotationAdopted, "{}")}, again: true, want: verbUpdate,
			why: "it does not run again: it existed before hone"},
		{name: "kept, to run again", declared: []change{called("Pod", "conf")}, live: []change{called("Pod", "conf"), with(AnnotationDownPolicy, "keep")}, again: true, want: verbUpdate,
			why: "it does not run again: " + AnnotationDownPolicy + ": keep"},
		{name: "of others, to run again", declared: []change{called("Pod", "conf")}, live: []change{called("Pod", "conf"), byHelm}, again: true, want: verbRefuse, plan: api.ActionBlocked,
			why: `pod/conf exists already: it is managed by "Helm"`},

		{name: "of others", live: []change{byHelm}, want: verbRefuse, plan: api.ActionBlocked, why: `configmap/conf exists already: it is managed by "Helm"`},
		{name: "of others, asked", live: []change{byHelm}, req: ApplyRequest{Adopt: true}, want: verbAdopt, plan: api.ActionAdopt, why: `it is managed by "Helm"`},
		{name: "of others, never", declared: []change{with(model.AnnotationAdopt, model.AdoptNever)}, live: []change{byHelm}, req: ApplyRequest{Adopt: true}, want: verbRefuse, plan: api.ActionBlocked,
			why: `configmap/conf exists already: it is managed by "Helm"`},
		{name: "of another project", live: []change{ownedBy("project2")}, want: verbRefuse, plan: api.ActionBlocked, why: "configmap/conf exists already: it belongs to the project of /src/two/Tiltfile"},
		{name: "of a former ID", declared: []change{newer}, live: []change{ownedBy("former")}, want: verbUpdate},
		{name: "a namespace of others", declared: []change{called("Namespace", "shop")}, live: []change{called("Namespace", "shop"), byHelm}, want: verbUseShared,
			why: "made by others, and shared: hone never deletes it"},
		{name: "from another place", live: []change{with(AnnotationHolder, "bob@two")}, want: verbRefuse, plan: api.ActionBlocked,
			why: "configmap/conf exists already: this project was deployed by bob@two"},
		{name: "from another place, asked", live: []change{with(AnnotationHolder, "bob@two")}, declared: []change{newer}, req: ApplyRequest{Adopt: true}, want: verbTakeOver, plan: api.ActionAdopt,
			why: "it was deployed by bob@two"},

		{name: "joins others", declared: []change{sharedBy("project1")}, live: []change{sharedBy("project2")}, want: verbJoin, why: "it is shared by the project of /src/two/Tiltfile, and by this one then"},
		{name: "has joined", declared: []change{newer, sharedBy("project1")}, live: []change{sharedBy("project1", "project2")}, want: verbUpdate},
		{name: "others share it", live: []change{sharedBy("project2")}, want: verbRefuse, plan: api.ActionBlocked, why: "configmap/conf exists already: it is shared by the project of /src/two/Tiltfile"},

		{name: "without its label", live: []change{unlabelled(LabelProject)}, before: "uid", want: verbRefuse, plan: api.ActionBlocked,
			why: "configmap/conf: its label " + LabelProject + " was removed, so that hone does not write it"},
		{name: "without its label, restored", live: []change{unlabelled(LabelProject)}, before: "uid", req: ApplyRequest{Reclaim: true}, want: verbReclaim, plan: api.ActionUpdate,
			why: "its label " + LabelProject + " was removed: put back"},
		{name: "without its label, asked", live: []change{unlabelled(LabelProject)}, before: "uid", req: ApplyRequest{Adopt: true}, want: verbReclaim, plan: api.ActionUpdate,
			why: "its label " + LabelProject + " was removed: put back"},
		{name: "another one without a label, restored", live: []change{unlabelled(LabelProject)}, before: "other", req: ApplyRequest{Reclaim: true}, want: verbRefuse, plan: api.ActionBlocked,
			why: "configmap/conf exists already: its label " + LabelProject + " was removed, so that hone does not know it as its own"},
		{name: "another one without a label, asked", live: []change{unlabelled(LabelProject)}, before: "other", req: ApplyRequest{Adopt: true}, want: verbAdopt, plan: api.ActionAdopt,
			why: "its label " + LabelProject + " was removed, so that hone does not know it as its own"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			declared := decided(tc.declared...)
			var live *unstructured.Unstructured
			if !slices.ContainsFunc(tc.live, func(c change) bool { return c == nil }) {
				live = decided(tc.live...)
				live.SetUID("uid")
			}
			tc.req.Before = func(model.ObjectID) string { return tc.before }
			if tc.again {
				tc.req.Again = always
			}
			r := &applyRun{a: &Applier{projects: projectPath, holders: []string{"alice@one"}, former: []string{"former"}}, req: tc.req}
			d := r.decide(target{id: IDOf(declared)}, declared, live)
			var known *problem.Problem
			if errors.As(d.err, &known) {
				d.why = known.Summary
			}
			if d.verb != tc.want || d.plan != tc.plan || d.why != tc.why {
				t.Errorf("verb %d, plan %q, why %q, want %d, %q, %q", d.verb, d.plan, d.why, tc.want, tc.plan, tc.why)
			}
			removed := tc.want == verbReclaim || tc.want == verbRefuse && tc.before == "uid"
			if (len(d.fields) > 0) != removed {
				t.Errorf("removed labels %v", d.fields)
			}
		})
	}
}
