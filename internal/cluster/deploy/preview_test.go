package deploy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// byHand changes an object as another user or tool does: the field manager, the name of the object, and a patch.
type byHand struct{ manager, object, patch string }

// TestRealPreview previews changes of objects that were applied before. Each line of a plan is "action kind/name: reason", and
// below it the changed fields.
func TestRealPreview(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: one, b: two}\n"
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {password: hunter22}\n"
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
	web := deploymentYAML("web", "web", "80")
	all := config + "\n---\n" + secret + "\n---\n" + web + "\n---\n" + service
	for _, tc := range []struct {
		name, before string
		hand         []byHand
		after        string
		adopt        bool
		want         string
	}{
		{name: "nothing is there", after: all, want: "create configmap/conf\ncreate secret/token\ncreate deployment/web\ncreate service/web"},
		{name: "nothing has changed", before: all, after: all, want: "unchanged configmap/conf\nunchanged secret/token\nunchanged deployment/web\nunchanged service/web"},
		{name: "a field changes, a key leaves, others add a key and an annotation (K5)", before: config, after: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: uno}\n",
			hand: []byHand{{"kubectl-edit", "conf", `{"data":{"c":"three"},"metadata":{"annotations":{"foreign":"1"}}}`}},
			want: "update configmap/conf\n  change data.a: one > uno\n  removal data.b: two > <nil>"},
		{name: "drift (K6)", before: web, after: web, hand: []byHand{{"kubectl-set", "web", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx"}]}}}}`}},
			want: "update deployment/web\n  drift spec.template.spec.containers[name=main].image: nginx > busybox (kubectl-set)"},
		{name: "a conflict (K7)", before: web, after: strings.Replace(web, "busybox", "alpine", 1), hand: []byHand{{"kubectl-set", "web", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx"}]}}}}`}},
			want: "update deployment/web\n  conflict spec.template.spec.containers[name=main].image: nginx > alpine (kubectl-set), applied busybox"},
		{name: "drift beside a change", before: config, after: strings.Replace(config, "one", "uno", 1), hand: []byHand{{"kubectl-edit", "conf", `{"data":{"b":"three"}}`}},
			want: "update configmap/conf\n  change data.a: one > uno\n  drift data.b: three > two (kubectl-edit)"},
		{name: "drift of a Secret beside a change", before: strings.Replace(secret, "{password:", "{user: me, password:", 1), after: strings.Replace(strings.Replace(secret, "{password:", "{user: me, password:", 1), "hunter22", "hunter33", 1),
			hand: []byHand{{"kubectl-edit", "token", `{"stringData":{"user":"you"}}`}},
			want: "update secret/token\n  change data.password: masked\n  drift data.user: masked (kubectl-edit)"},
		{name: "a key that others deleted, beside a change", before: config, after: strings.Replace(config, "one", "uno", 1), hand: []byHand{{"kubectl-edit", "conf", `{"data":{"b":null}}`}},
			want: "update configmap/conf\n  change data.a: one > uno\n  drift data.b: <nil> > two"},
		{name: "a sidecar of others (K9)", before: web, after: web, hand: []byHand{{"injector", "web", `{"spec":{"template":{"spec":{"containers":[{"name":"mesh","image":"mesh"}]}}}}`}},
			want: "unchanged deployment/web"},
		{name: "a Secret (K23)", before: secret, after: strings.Replace(secret, "hunter22", "hunter33", 1), want: "update secret/token\n  change data.password: masked"},
		{name: "what cannot change in place (K25)", before: web, after: deploymentYAML("web", "shop", "80"), want: "replace deployment/web: spec.selector cannot be changed in place"},
		{name: "nor is valid (K25)", before: web, after: deploymentYAML("web", "shop", "-80"),
			want: "blocked deployment/web: spec.selector cannot be changed in place, and the object is not valid as a new one: Deployment.apps \"web\" is invalid: "},
		{name: "an invalid value (K12)", before: service, after: strings.Replace(service, "80", "-80", 1), want: "blocked service/web: Service \"web\" is invalid: [spec.ports[0].port"},
		{name: "an unknown field (K12)", before: service, after: strings.Replace(service, "selector:", "selektor: x, selector:", 1),
			want: "unchanged service/web: service/web: the API server does not know the field .spec.selektor: left out"},
		{name: "a foreign object (V16)", hand: []byHand{{"helm", "+conf", config}}, after: config, want: "blocked configmap/conf: configmap/conf exists already: \"helm\" wrote it"},
		{name: "a foreign object that may be adopted (K22)", hand: []byHand{{"helm", "+conf", config}}, after: strings.Replace(config, "one", "uno", 1), adopt: true,
			want: "adopt configmap/conf: \"helm\" wrote it\n  conflict data.a: one > uno (helm)"},
		{name: "an object that is no longer declared", before: config + "\n---\n" + service, after: config, want: "unchanged configmap/conf\ndelete service/web: no longer declared"},
		{name: "all of them", before: config + "\n---\n" + service, want: "delete service/web: no longer declared\ndelete configmap/conf: no longer declared"},
		{name: "one that a policy keeps", before: strings.Replace(config, "{name: conf}", "{name: conf, annotations: {helm.sh/resource-policy: keep}}", 1),
			want: "keep configmap/conf: no longer declared; helm.sh/resource-policy: keep"},
		{name: "one that is gone already", before: config, hand: []byHand{{"kubectl", "-conf", ""}}, want: ""},
		{name: "an object of another resource", before: "other\n" + config, after: config, want: "hand over configmap/conf: it passes from other"},
		{name: "an object whose record has passed already", before: "recorded for web\n" + config, after: config, want: "hand over configmap/conf: it passes from other"},
		{name: "an object whose record is not looked at", before: "recorded for nobody\n" + config, after: config, want: "hand over configmap/conf: it passes from other"},
		{name: "a namespace that is made first (K1)", after: "apiVersion: v1\nkind: Namespace\nmetadata: {name: NEW}\n---\n" + strings.Replace(config, "{name: conf}", "{name: conf, namespace: NEW}", 1),
			want: "create namespace/NEW\ncreate configmap/conf: namespace NEW is made first"},
		{name: "a namespace that is missing", after: strings.Replace(config, "{name: conf}", "{name: conf, namespace: NEW}", 1), want: "blocked configmap/conf: namespace \"NEW\" does not exist"},
		{name: "a kind that is missing", after: "apiVersion: shop.test/v1\nkind: Tea\nmetadata: {name: green}\n", want: "blocked tea/green: the cluster has no kind \"Tea\" in shop.test/v1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			tc.after, tc.want = strings.ReplaceAll(tc.after, "NEW", c.namespace+"-new"), strings.ReplaceAll(tc.want, "NEW", c.namespace+"-new")
			owner := model.ManifestName("web")
			if rest, ok := strings.CutPrefix(tc.before, "other\n"); ok {
				owner, tc.before = "other", rest
			}
			recorded := owner
			for _, by := range []model.ManifestName{"web", "nobody"} {
				if rest, ok := strings.CutPrefix(tc.before, "recorded for "+string(by)+"\n"); ok {
					owner, recorded, tc.before = "other", by, rest
				}
			}
			before := c.injectAs(t, owner, "project1", tc.before)
			memory := openLedger(t, t.TempDir())
			done := c.applyRemembered(t, memory, before)
			for _, h := range tc.hand {
				c.changedBy(t, h)
			}
			if recorded == "nobody" {
				done = nil
			}
			a := NewApplier(c.dyn, c.mapper)
			steps, err := a.Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace, Adopt: tc.adopt, Prior: memory.Remembered,
				Declared: []Declared{{Resource: "web", Objects: c.inject(t, tc.after)}}, Records: map[model.ManifestName][]ledger.Record{recorded: ledger.Of(done)}})
			if err != nil {
				t.Fatal(err)
			}
			got := stepsText(steps)
			if diff := cmp.Diff(tc.want, got); diff != "" && !(strings.HasPrefix(tc.want, "blocked") && strings.HasPrefix(got, tc.want)) {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// applyRemembered applies objects of a resource with a ledger that remembers them.
func (c cluster) applyRemembered(t *testing.T, memory *Memory, objects []*unstructured.Unstructured) []model.AppliedObject {
	t.Helper()
	done, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Namespace: c.namespace, Accepted: memory.Accepted,
		Applied: func(u *unstructured.Unstructured, written bool) {
			if err := memory.Remember(u, written); err != nil {
				t.Error(err)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestRealDrift changes applied objects by hand, and looks at the reported drift.
func TestRealDrift(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: one, b: two}\n"
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {password: hunter22, user: me}\n"
	packed := strings.Repeat("H4sIAAAAAAAA", 20)
	copied := "apiVersion: v1\nkind: Secret\nmetadata: {name: token, annotations: {note: one, kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"p\":\"aHVudGVyMjI=\"}}', " +
		"objectset.rio.cattle.io/applied: " + packed + "}}\nstringData: {password: hunter22}\n"
	copiedByHand := `{"metadata":{"annotations":{"note":"two","kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"p\":\"aHVudGVyMzM=\"}}","objectset.rio.cattle.io/applied":"` + packed + `x"}}}`
	web := deploymentYAML("web", "web", "80")
	job := func(ttl int) string { // suspended, so that it is still there to be deleted
		return fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec:\n  suspend: true\n  ttlSecondsAfterFinished: %d\n"+
			"  template:\n    spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}\n", ttl)
	}
	for _, tc := range []struct {
		name, before string
		hand         []byHand
		want         string
	}{
		{name: "nothing", before: config + "\n---\n" + secret + "\n---\n" + web, want: "unchanged configmap/conf\nunchanged secret/token\nunchanged deployment/web"},
		{name: "fields (K6)", before: web, hand: []byHand{{"kubectl-set", "web", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx"}]}}}}`}},
			want: "update deployment/web\n  drift spec.template.spec.containers[name=main].image: nginx > busybox (kubectl-set)"},
		{name: "foreign fields", before: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"c":"three"},"metadata":{"labels":{"tier":"dev"}}}`}}, want: "unchanged configmap/conf"},
		{name: "a Secret", before: secret, hand: []byHand{{"kubectl-edit", "token", `{"stringData":{"user":"you"}}`}},
			want: "update secret/token\n  drift data.user: masked (kubectl-edit)"},
		{name: "a Secret with copies of itself", before: copied, hand: []byHand{{"kubectl-client-side-apply", "token", copiedByHand}},
			want: "update secret/token\n  drift metadata.annotations.note: two > one (kubectl-client-side-apply)\n" +
				"  drift metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]: masked (kubectl-client-side-apply)\n" +
				"  drift metadata.annotations[\"objectset.rio.cattle.io/applied\"]: masked (kubectl-client-side-apply)"},
		{name: "deleted", before: config, hand: []byHand{{"kubectl", "-conf", ""}}, want: "create configmap/conf: deleted by others since it was applied"},
		{name: "a Job that removes itself", before: job(0), hand: []byHand{{"kubectl", "-once", ""}}, want: "unchanged job/once: gone: its ttlSecondsAfterFinished removes it once it has finished"},
		{name: "a Job that cannot have removed itself yet", before: job(3600), hand: []byHand{{"kubectl", "-once", ""}}, want: "create job/once: deleted by others since it was applied"},
		{name: "made again", before: config, hand: []byHand{{"kubectl", "-conf", ""}, {"helm", "+conf", config}}, want: "blocked configmap/conf: deleted and made again by others since it was applied; configmap/conf exists already: \"helm\" wrote it"},
		{name: "the project's label removed", before: config, hand: []byHand{{"kubectl-label", "conf", `{"metadata":{"labels":{"hone.dev/project":null}}}`}},
			want: "blocked configmap/conf: configmap/conf: its label hone.dev/project was removed, so that hone does not write it\n" +
				"  drift metadata.labels[\"hone.dev/project\"]: <nil> > project1"},
		{name: "the label of hone removed", before: secret, hand: []byHand{{"kubectl-label", "token", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`}},
			want: "blocked secret/token: secret/token: its label app.kubernetes.io/managed-by was removed, so that hone does not write it\n" +
				"  drift metadata.labels[\"app.kubernetes.io/managed-by\"]: <nil> > hone"},
		{name: "applied from elsewhere", before: config, hand: []byHand{{"hone", "conf", `{"data":{"a":"uno"},"metadata":{"annotations":{"hone.dev/applied-hash":"later"}}}`}},
			want: "keep configmap/conf: applied since from elsewhere: what that was is not known here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			memory := openLedger(t, t.TempDir())
			done := c.applyRemembered(t, memory, c.inject(t, tc.before))
			for _, h := range tc.hand {
				c.changedBy(t, h)
			}
			var objects []*unstructured.Unstructured
			for _, o := range done {
				objects = append(objects, memory.Remembered(o.ObjectID))
			}
			steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Drift: true, Prior: memory.Remembered, Written: memory.WrittenAt,
				Declared: []Declared{{Resource: "web", Objects: objects}}, Records: map[model.ManifestName][]ledger.Record{"web": ledger.Of(done)}})
			if err != nil {
				t.Fatal(err)
			}
			if got := stepsText(steps); got != tc.want && !(strings.HasPrefix(tc.want, "blocked") && strings.HasPrefix(got, tc.want)) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(tc.want, got))
			}
		})
	}
}

// changedBy carries out a change by hand: a strategic merge, a creation (+name) or a deletion (-name).
func (c cluster) changedBy(t *testing.T, h byHand) {
	t.Helper()
	kind := map[string]string{"conf": "ConfigMap", "web": "Deployment", "token": "Secret", "once": "Job"}[strings.TrimLeft(h.object, "+-")]
	text := "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + strings.TrimLeft(h.object, "+-") + "}\n"
	if group := map[string]string{"Deployment": "apps/", "Job": "batch/"}[kind]; group != "" {
		text = strings.Replace(text, "v1", group+"v1", 1)
	}
	var err error
	switch h.object[0] {
	case '+':
		u, parseErr := parse(objectsOf(t, h.patch)[0])
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		u.SetNamespace(c.namespace)
		_, err = c.client(t, u).Create(t.Context(), u, metav1.CreateOptions{FieldManager: h.manager})
	case '-':
		u := c.inject(t, text)[0]
		background := metav1.DeletePropagationBackground
		err = c.client(t, u).Delete(t.Context(), u.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	default:
		u := c.inject(t, text)[0]
		_, err = c.client(t, u).Patch(t.Context(), u.GetName(), types.StrategicMergePatchType, []byte(h.patch), metav1.PatchOptions{FieldManager: h.manager})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func stepsText(steps []api.PlanStep) string {
	var lines []string
	for _, s := range steps {
		line := string(s.Action) + " " + strings.ToLower(s.Object.Kind) + "/" + s.Object.Name
		if s.Reason != "" {
			line += ": " + s.Reason
		}
		lines = append(lines, line)
		for _, f := range s.Fields {
			line := fmt.Sprintf("  %s %s: %v > %v", f.Class, f.Path, f.From, f.To)
			if f.AfterApply {
				line = fmt.Sprintf("  %s %s: %v > known after apply", f.Class, f.Path, f.From)
			}
			if f.Masked {
				line = fmt.Sprintf("  %s %s: masked", f.Class, f.Path)
			}
			if f.Manager != "" {
				line += " (" + f.Manager + ")"
			}
			if f.Applied != nil {
				line += fmt.Sprint(", applied ", f.Applied)
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// TestRealPreviewWritesNothing previews changes of each kind, twice: the plans are equal, and no object is another one.
func TestRealPreviewWritesNothing(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	objects := c.inject(t, configYAML+"\n---\n"+deploymentYAML("web", "web", "80"))
	c.mustApply(t, objects)
	versions := func() (out string) {
		for _, u := range objects {
			live := c.get(t, u) // without its status, which its controller writes
			delete(live.Object, "status")
			live.SetResourceVersion("")
			live.SetAnnotations(chosen(live.GetAnnotations(), markAnnotations))
			live.SetManagedFields(nil)
			out += fmt.Sprintln(live.Object)
		}
		return out
	}
	before := versions()
	changed := c.inject(t, strings.Replace(configYAML, `"1"`, `"9"`, 1)+"\n---\n"+deploymentYAML("web", "shop", "80")+"\n---\n"+deploymentYAML("late", "late", "80"))
	plan := func() string {
		steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace, Declared: []Declared{{Resource: "web", Objects: changed}}})
		if err != nil {
			t.Fatal(err)
		}
		return stepsText(steps)
	}
	first := plan()
	if second := plan(); second != first || !strings.Contains(first, "create deployment/late") || !strings.Contains(first, "replace deployment/web") {
		t.Errorf("first\n%s\nthen\n%s", first, second)
	}
	if after := versions(); after != before || c.get(t, changed[2]) != nil {
		t.Errorf("after it\n%s\nbefore\n%s", after, before)
	}
}

// TestRealPreviewOfRecordWithNamespace previews a cluster-scoped object that was recorded with a namespace, before its kind was
// known: it is no leftover.
func TestRealPreviewOfRecordWithNamespace(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	objects := c.inject(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+c.namespace+"}\n")
	record := ledger.Record{ObjectID: model.ObjectID{Kind: "Namespace", Namespace: "default", Name: c.namespace}, APIVersion: "v1"}
	steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace,
		Declared: []Declared{{Resource: "web", Objects: objects}}, Records: map[model.ManifestName][]ledger.Record{"web": {record}}})
	if err != nil || len(steps) != 1 || steps[0].Action == api.ActionDelete || steps[0].Action == api.ActionKeep {
		t.Errorf("%s, %v", stepsText(steps), err)
	}
}

// TestUnbuilt checks the text for an image that is not built: fields with it say that their value comes with the build.
func TestUnbuilt(t *testing.T) {
	for ref, want := range map[string]string{"web": "web", "reg:5000/shop/web": "reg:5000/shop/web", "reg:5000/web:dev": "reg:5000/web", "web@sha256:00": "web"} {
		if got := Unbuilt(model.ImageTarget{Ref: ref}).Cluster; got != want+unbuiltTag {
			t.Errorf("%s: %s", ref, got)
		}
	}
}
