package deploy

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRemovals: the decision for each kind of object that is to go, and its place in a plan.
func TestRemovals(t *testing.T) {
	adopted, orphan := with(AnnotationAdopted, "{}"), with(model.AnnotationOnRemove, model.OnRemoveOrphan)
	for _, tc := range []struct {
		name string
		live []change
		uid  string // the recorded one; the live object has "uid"
		req  DeleteRequest
		want DeleteOutcome
		plan api.PlanAction
		why  string
	}{
		{name: "the project's", uid: "uid", want: OutcomeDeleted, plan: api.ActionDelete},
		{name: "of a former ID", live: []change{ownedBy("former")}, want: OutcomeDeleted, plan: api.ActionDelete},
		{name: "of others", live: []change{byHelm}, want: OutcomeForeign, plan: api.ActionKeep, why: "not made by hone"},
		{name: "of another project", live: []change{ownedBy("project2")}, want: OutcomeForeign, plan: api.ActionKeep, why: "belongs to the project of /src/two/Tiltfile"},
		{name: "from another place", live: []change{with(AnnotationHolder, "bob@two")}, want: OutcomeForeign, plan: api.ActionKeep, why: "it was deployed by bob@two (HONE_HOLDER)"},
		{name: "without its label", live: []change{unlabelled(LabelProject)}, uid: "uid", want: OutcomeForeign, plan: api.ActionKeep,
			why: "its label " + LabelProject + " was removed, so that hone does not know it as its own"},
		{name: "another one of its name", uid: "other", want: OutcomeForeign, plan: api.ActionKeep, why: "replaced outside of hone"},
		{name: "of another session", live: []change{with(AnnotationRunID, "other")}, req: DeleteRequest{RunID: "run"}, want: OutcomeElsewhere, plan: api.ActionKeep,
			why: "another running session of the project may need it"},

		{name: "adopted", live: []change{adopted}, want: OutcomeGivenBack, plan: api.ActionKeep, why: givenBack},
		{name: "adopted, to run again", live: []change{adopted}, req: DeleteRequest{KeepAdopted: true}, want: OutcomeKept, plan: api.ActionKeep, why: "it existed before hone"},
		{name: "orphan", live: []change{orphan}, want: OutcomeGivenBack, plan: api.ActionOrphan, why: "it stays, and hone forgets it (hone.dev/on-remove: orphan)"},
		{name: "orphan, to run again", live: []change{orphan}, req: DeleteRequest{KeepAdopted: true}, want: OutcomeKept, plan: api.ActionKeep, why: "it is not made again (hone.dev/on-remove: orphan)"},

		{name: "shared by others", live: []change{sharedBy("project2")}, want: OutcomeForeign, plan: api.ActionKeep, why: "it is shared by the project of /src/two/Tiltfile"},
		{name: "shared with others", live: []change{sharedBy("project1", "project2")}, uid: "uid", want: OutcomeDeleted, plan: api.ActionOrphan,
			why: "it stays with the project of /src/two/Tiltfile, which share it"},
		{name: "shared with none", live: []change{sharedBy("project1")}, want: OutcomeDeleted, plan: api.ActionDelete},
		{name: "shared, in another session", live: []change{sharedBy("project1")}, req: DeleteRequest{RunID: "run"}, want: OutcomeDeleted, plan: api.ActionDelete},
		{name: "shared, another one of its name", live: []change{sharedBy("project1")}, uid: "other", want: OutcomeForeign, plan: api.ActionKeep, why: "replaced outside of hone"},
		{name: "shared, to run again", live: []change{sharedBy("project1")}, req: DeleteRequest{KeepAdopted: true}, want: OutcomeKept, plan: api.ActionKeep, why: "it is shared"},
		{name: "shared and adopted", live: []change{sharedBy("project1", "project2"), adopted}, want: OutcomeGivenBack, plan: api.ActionKeep, why: givenBack},

		{name: "until down", live: []change{with(model.AnnotationOnRemove, model.OnRemoveDown)}, req: DeleteRequest{Removal: RemovalAsked}, want: OutcomeKept, plan: api.ActionKeep,
			why: "it stays until hone down (hone.dev/on-remove: down)"},
		{name: "until down, down", live: []change{with(model.AnnotationOnRemove, model.OnRemoveDown)}, req: DeleteRequest{Removal: RemovalDown}, want: OutcomeDeleted, plan: api.ActionDelete},
		{name: "confirm", live: []change{with(model.AnnotationOnRemove, model.OnRemoveConfirm)}, want: OutcomeKept, plan: api.ActionKeep,
			why: "hone gc asks whether to delete it (hone.dev/on-remove: confirm)"},
		{name: "confirm, asked", live: []change{with(model.AnnotationOnRemove, model.OnRemoveConfirm)}, req: DeleteRequest{Removal: RemovalAsked}, want: OutcomeDeleted, plan: api.ActionDelete},
		{name: "namespace", live: []change{called("Namespace", "shop")}, req: DeleteRequest{KeepNamespaces: true}, want: OutcomeKept, plan: api.ActionKeep, why: "namespaces are deleted only on request"},
		{name: "namespace, asked", live: []change{called("Namespace", "shop")}, want: OutcomeDeleted, plan: api.ActionDelete},
		{name: "volume", live: []change{called("PersistentVolumeClaim", "data")}, req: DeleteRequest{KeepVolumes: true}, want: OutcomeKept, plan: api.ActionKeep, why: "volumes are deleted only on request"},

		{name: "forgotten", uid: "uid", req: DeleteRequest{Removal: RemovalForgotten}, want: OutcomeGivenBack, plan: api.ActionOrphan, why: forgotten},
		{name: "forgotten, adopted", live: []change{adopted}, req: DeleteRequest{Removal: RemovalForgotten}, want: OutcomeGivenBack, plan: api.ActionOrphan, why: forgotten},
		{name: "forgotten, shared with none", live: []change{sharedBy("project1")}, req: DeleteRequest{Removal: RemovalForgotten}, want: OutcomeGivenBack, plan: api.ActionOrphan, why: forgotten},
		{name: "forgotten, kept", live: []change{with(AnnotationDownPolicy, "keep")}, req: DeleteRequest{Removal: RemovalForgotten}, want: OutcomeGivenBack, plan: api.ActionOrphan, why: forgotten},
		{name: "forgotten, of others", live: []change{byHelm}, req: DeleteRequest{Removal: RemovalForgotten}, want: OutcomeForeign, plan: api.ActionKeep, why: "not made by hone"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			live := decided(tc.live...)
			live.SetUID("uid")
			tc.req.Project = "project1"
			r := &deleteRun{a: &Applier{projects: projectPath, holders: []string{"alice@one"}, former: []string{"former"}}, req: tc.req}
			d := r.remove(ObjectRef{ObjectID: IDOf(live), UID: tc.uid}, live)
			if want := (removal{outcome: tc.want, plan: tc.plan, why: tc.why}); d != want {
				t.Errorf("%+v, want %+v", d, want)
			}
		})
	}
}

// TestRemovalsHonourOtherTools: an annotation of another tool keeps an object.
func TestRemovalsHonourOtherTools(t *testing.T) {
	for _, text := range []string{
		AnnotationDownPolicy + ": keep", AnnotationTiltDownPolicy + ": keep", "helm.sh/resource-policy: keep",
		"config.kubernetes.io/deletion: detach", "client.lifecycle.config.k8s.io/deletion: detach",
		"argocd.argoproj.io/sync-options: Replace=true,Prune=false", "argocd.argoproj.io/sync-options: Replace=true, Delete=false",
		"kustomize.toolkit.fluxcd.io/prune: disabled", "kapp.k14s.io/delete-strategy: orphan",
	} {
		key, value, _ := strings.Cut(text, ": ")
		live := decided(with(key, value))
		if d := (&deleteRun{a: &Applier{}}).remove(ObjectRef{ObjectID: IDOf(live)}, live); d.outcome != OutcomeKept || d.why == "" {
			t.Errorf("%s: %+v", key, d)
		}
	}
}

// TestLeftoverDecisions: a recorded object that is no longer declared is handed over, or stays for its kind, or the live object decides.
func TestLeftoverDecisions(t *testing.T) {
	owner := func(id model.ObjectID) (model.ManifestName, bool) { return "api", id.Name == "moved" }
	conf := model.ObjectID{Kind: "ConfigMap", Namespace: "shop", Name: "conf"}
	moved := model.ObjectID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "moved"}
	data := model.ObjectID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	for _, tc := range []struct {
		id   model.ObjectID
		from model.ManifestName
		want removal
	}{
		{conf, "web", removal{}},
		{moved, "web", removal{plan: api.ActionHandOver, to: "api", why: "it passes to api"}},
		{moved, "api", removal{outcome: OutcomeKept, plan: api.ActionKeep, why: "objects of this kind stay until hone down"}},
		{data, "web", removal{outcome: OutcomeKept, plan: api.ActionKeep, why: "objects of this kind stay until hone down"}},
	} {
		if got := leftover(tc.id, tc.from, owner); got != tc.want {
			t.Errorf("%s of %s: %+v, want %+v", tc.id.Name, tc.from, got, tc.want)
		}
	}
}
