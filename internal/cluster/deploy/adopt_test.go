package deploy

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// made are the origins of objects that are not the project's. Each object has the keys a and b.
var made = []struct {
	name string
	make func(*testing.T, cluster) *unstructured.Unstructured
	// whose is the text of the problem.
	whose string
}{
	{"by hand", func(t *testing.T, c cluster) *unstructured.Unstructured {
		return c.create(t, configYAML, nil, "kubectl-create")
	}, `configmap/conf exists already: "kubectl-create" wrote it`},
	{"by kubectl apply", func(t *testing.T, c cluster) *unstructured.Unstructured {
		return c.create(t, configYAML, nil, "kubectl-client-side-apply")
	}, `configmap/conf exists already: "kubectl-client-side-apply" wrote it`},
	{"by Helm", func(t *testing.T, c cluster) *unstructured.Unstructured {
		return c.create(t, configYAML, map[string]string{LabelManagedBy: "Helm", "chart": "x"}, "helm")
	}, `configmap/conf exists already: it is managed by "Helm"`},
	{"by Tilt", func(t *testing.T, c cluster) *unstructured.Unstructured {
		return c.create(t, configYAML, map[string]string{LabelManagedBy: "tilt"}, "tilt")
	}, `configmap/conf exists already: it is managed by "tilt"`},
	{"by another project", func(t *testing.T, c cluster) *unstructured.Unstructured {
		theirs := c.injectAs(t, "web", "project2", configYAML)
		c.mustApply(t, theirs)
		return c.get(t, theirs[0])
	}, "configmap/conf exists already: it belongs to the project of /src/two/Tiltfile"},
}

// create creates an object in the name of another tool.
func (c cluster) create(t *testing.T, text string, labels map[string]string, manager string) *unstructured.Unstructured {
	t.Helper()
	u := c.inject(t, text)[0]
	u.SetLabels(labels)
	u.SetAnnotations(map[string]string{"note": "theirs"})
	got, err := c.client(t, u).Create(t.Context(), u, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func projectPath(id string) string {
	if id == "project2" {
		return "/src/two/Tiltfile"
	}
	return ""
}

// ownersIn returns the fields of an object by who owns them, without the marks that each apply changes.
func ownersIn(u *unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	for _, m := range u.GetManagedFields() {
		if m.FieldsV1 != nil {
			out[m.Manager+" "+string(m.Operation)] = fieldSet(m.FieldsV1.GetRawBytes()).String()
		}
	}
	return out
}

// look is the user-visible state of an object whose owner changes.
func look(u *unstructured.Unstructured) map[string]any {
	annotations := u.GetAnnotations()
	delete(annotations, AnnotationAppliedHash) // it depends on the last apply
	return map[string]any{"data": u.Object["data"], "labels": u.GetLabels(), "annotations": annotations, "uid": u.GetUID()}
}

// TestAdoptsWhatKubectlMade: the setting takes over nothing else.
func TestAdoptsWhatKubectlMade(t *testing.T) {
	last := map[string]string{lastAppliedByKubectl: "{}"}
	entry := func(manager string, op metav1.ManagedFieldsOperationType) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: manager, Operation: op}}
	}
	for _, tc := range []struct {
		name        string
		labels      map[string]string
		annotations map[string]string
		fields      []metav1.ManagedFieldsEntry
		owned       bool
		setting     string
		asked, want bool
	}{
		{name: "kubectl apply", annotations: last, setting: model.AdoptKubectl, want: true},
		{name: "kubectl apply --server-side", fields: entry("kubectl", metav1.ManagedFieldsOperationApply), setting: model.AdoptKubectl, want: true},
		{name: "kubectl create", fields: entry("kubectl-create", metav1.ManagedFieldsOperationUpdate), setting: model.AdoptKubectl},
		{name: "kubectl create, and --adopt", fields: entry("kubectl-create", metav1.ManagedFieldsOperationUpdate), setting: model.AdoptKubectl, asked: true, want: true},
		{name: "Helm, applied once more", labels: map[string]string{LabelManagedBy: "Helm"}, annotations: last, setting: model.AdoptKubectl},
		{name: "another project, applied once more", labels: map[string]string{LabelManagedBy: ManagedByHone, LabelProject: "x"}, annotations: last, setting: model.AdoptKubectl},
		{name: "a controller", annotations: last, owned: true, setting: model.AdoptKubectl},
		{name: "kubectl apply, never", annotations: last, setting: model.AdoptNever, asked: true},
		{name: "kubectl apply, no setting", annotations: last},
		{name: "anything, always", setting: model.AdoptAlways, want: true},
	} {
		live, desired := &unstructured.Unstructured{Object: map[string]any{}}, &unstructured.Unstructured{Object: map[string]any{}}
		live.SetLabels(tc.labels)
		live.SetAnnotations(tc.annotations)
		live.SetManagedFields(tc.fields)
		if tc.owned {
			live.SetOwnerReferences([]metav1.OwnerReference{{Name: "x"}})
		}
		if tc.setting != "" {
			desired.SetAnnotations(map[string]string{model.AnnotationAdopt: tc.setting})
		}
		if got := mayAdopt(desired, live, tc.asked); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

// TestRealAdoption takes over objects that others made, and gives them back.
func TestRealAdoption(t *testing.T) {
	for _, m := range made {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			before := m.make(t, c)
			mine := c.inject(t, strings.Replace(configYAML, `{a: "1", b: "2"}`, `{a: "mine", c: "3"}`, 1))
			a := NewApplier(c.dyn, c.mapper, WithProjects(projectPath))
			log := &recorder{}
			memory := openLedger(t, t.TempDir())
			req := ApplyRequest{Resource: "web", Objects: mine, Namespace: c.namespace, Logger: log, Found: memory}

			_, err := a.Apply(t.Context(), req)
			if p, ok := problem.Of(err); !ok || p.Summary != m.whose || !strings.Contains(p.Mend, "hone up --adopt") {
				t.Errorf("without permission: %v", err)
			}
			if diff := cmp.Diff(before.Object, c.get(t, before).Object); diff != "" {
				t.Errorf("without permission it was changed: %s", diff)
			}

			req.Adopt = true
			if _, err := a.Apply(t.Context(), req); err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			live := c.get(t, before)
			if data, _ := json.Marshal(live.Object["data"]); string(data) != `{"a":"mine","b":"2","c":"3"}` {
				t.Errorf("adopted: data %s, want what the YAML lacks kept", data)
			}
			if !a.owns("project1", live) || live.GetUID() != before.GetUID() {
				t.Errorf("adopted: %v", look(live))
			}

			req.Adopt = false // it now belongs to the project
			mine = c.inject(t, strings.Replace(configYAML, `{a: "1", b: "2"}`, `{c: "3"}`, 1))
			req.Objects = mine
			if _, err := a.Apply(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if data, _ := json.Marshal(c.get(t, before).Object["data"]); string(data) != `{"b":"2","c":"3"}` {
				t.Errorf("a key left the YAML: data %s", data)
			}

			var outcome DeleteOutcome
			err = a.Delete(t.Context(), DeleteRequest{Objects: refsOf(mine), Project: "project1", Wait: true, Logger: log, Found: memory,
				Done: func(_ ObjectRef, o DeleteOutcome) { outcome = o }})
			if err != nil || outcome != OutcomeGivenBack {
				t.Errorf("deleted: %v, %s", err, outcome)
			}
			after := c.get(t, before)
			if after == nil {
				t.Fatal("it was deleted")
			}
			if diff := cmp.Diff(look(before), look(after)); diff != "" { // also the key that has left the YAML
				t.Errorf("given back: %s\n%s", diff, log)
			}
			if diff := cmp.Diff(ownersIn(before), ownersIn(after)); diff != "" {
				t.Errorf("given back, the owners of fields: %s", diff)
			}
			for _, f := range after.GetManagedFields() {
				if f.Manager == formerManager || f.Manager == FieldManager && f.Operation == metav1.ManagedFieldsOperationApply && m.name != "by another project" {
					t.Errorf("given back, %s still owns fields", f.Manager)
				}
			}
		})
	}
}

// TestRealGivenBackAsFound takes over a Deployment and a Secret, while others continue to write to the Deployment, and gives them
// back with the values that it found, and with the changes that others have made since. Without a record of the found state, they
// stay as they were applied last.
func TestRealGivenBackAsFound(t *testing.T) {
	t.Parallel()
	const theirs = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: shop}}
spec:
  replicas: 0
  minReadySeconds: 7
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "web:1", env: [{name: A, value: "1"}, {name: B, value: "2"}], ports: [{containerPort: 80}]}
      - {name: log, image: "log:1"}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, labels: {team: shop}}
stringData: {password: theirs}
`
	const mine = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: dev, extra: "yes"}}
spec:
  replicas: 0
  minReadySeconds: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: "web:2", env: [{name: B, value: mine}, {name: C, value: "3"}], ports: [{containerPort: 80}, {containerPort: 81, protocol: UDP}]}
      - {name: debug, image: "debug:1"}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, labels: {team: dev}}
stringData: {password: mine}
`
	for _, noted := range []bool{true, false} {
		c := realCluster(t)
		var before []*unstructured.Unstructured
		for _, u := range c.inject(t, theirs) {
			u.SetLabels(map[string]string{"team": "shop"})
			u.SetAnnotations(nil)
			got, err := c.client(t, u).Create(t.Context(), u, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"})
			if err != nil {
				t.Fatal(err)
			}
			before = append(before, got)
		}
		dir := t.TempDir()
		memory := openLedger(t, dir)
		if !noted {
			memory = nil
		}
		objects, log := c.inject(t, mine), &recorder{}
		a := NewApplier(c.dyn, c.mapper)
		if _, err := a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Namespace: c.namespace, Logger: log, Adopt: true, Found: memory}); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		c.merge(t, before[0], `{"metadata":{"labels":{"ops":"added"}},"spec":{"minReadySeconds":3}}`) // others
		if err := a.Delete(t.Context(), DeleteRequest{Objects: refsOf(objects), Project: "project1", Wait: true, Logger: log, Found: memory}); err != nil {
			t.Fatal(err)
		}
		web, keys := c.get(t, before[0]), c.get(t, before[1])
		want := before[0].DeepCopy()
		_ = unstructured.SetNestedField(want.Object, int64(3), "spec", "minReadySeconds")
		want.SetLabels(map[string]string{"team": "shop", "ops": "added"})
		diff := cmp.Diff(want.Object["spec"], web.Object["spec"]) + cmp.Diff(want.GetLabels(), web.GetLabels())
		for key := range web.GetAnnotations() {
			if key != "deployment.kubernetes.io/revision" {
				diff += "annotation " + key
			}
		}
		if (diff == "") != noted {
			t.Errorf("noted %t: %s\n%s", noted, diff, log)
		}
		if !noted && web.GetLabels()[LabelManagedBy] != "" {
			t.Errorf("not noted: %v", web.GetLabels())
		}
		team := map[bool]string{true: "shop", false: "dev"}[noted]
		if got := keys.GetLabels(); len(got) != 1 || got["team"] != team {
			t.Errorf("noted %t: the labels of the Secret %v", noted, got)
		}
		if data, _ := json.Marshal(keys.Object["data"]); !strings.Contains(string(data), base64.StdEncoding.EncodeToString([]byte("mine"))) {
			t.Errorf("noted %t: the Secret %s, whose former value hone cannot know", noted, data)
		}
		if said := strings.Contains(log.String(), "as it was found, with the values that were applied last"); said != noted {
			t.Errorf("noted %t:\n%s", noted, log)
		}
		for _, file := range filesIn(t, dir) {
			if bytes.Contains(file, []byte("theirs")) || bytes.Contains(file, []byte(base64.StdEncoding.EncodeToString([]byte("theirs")))) || bytes.Contains(file, []byte("web:1")) {
				t.Error("what was found is on disk as it is")
			}
		}
	}
}

// filesIn returns the content of all files below a folder.
func filesIn(t *testing.T, dir string) (out [][]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out = append(out, raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPartOf takes those fields from an object that a set names.
func TestPartOf(t *testing.T) {
	const object = `{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"n":1,"empty":{},"atomic":{"x":1,"y":2},"set":["p","q"],
		"list":[{"name":"one","v":1,"w":2},{"name":"two","v":3}],"ports":[{"port":80,"protocol":"TCP","name":"web"},{"port":80,"protocol":"UDP"}]}}`
	for _, tc := range []struct{ fields, want string }{
		{`{}`, `null`},
		{`{"f:metadata":{"f:labels":{"f:a":{}}}}`, `{"metadata":{"labels":{"a":"1"}}}`},
		{`{"f:metadata":{"f:labels":{".":{},"f:b":{}}}}`, `{"metadata":{"labels":{"b":"2"}}}`},
		{`{"f:metadata":{"f:labels":{".":{},"f:gone":{}}}}`, `{"metadata":{"labels":{}}}`},
		{`{"f:metadata":{"f:labels":{"f:gone":{}}}}`, `null`},
		{`{"f:spec":{"f:n":{},"f:empty":{},"f:atomic":{},"f:gone":{"f:x":{}}}}`, `{"spec":{"atomic":{"x":1,"y":2},"empty":{},"n":1}}`},
		{`{"f:spec":{"f:set":{"v:\"q\"":{},"v:\"r\"":{}}}}`, `{"spec":{"set":["q"]}}`},
		{`{"f:spec":{"f:list":{"k:{\"name\":\"two\"}":{".":{},"f:name":{},"f:v":{}}}}}`, `{"spec":{"list":[{"name":"two","v":3}]}}`},
		{`{"f:spec":{"f:list":{"k:{\"name\":\"one\"}":{"f:w":{}},"k:{\"name\":\"three\"}":{".":{},"f:v":{}}}}}`, `{"spec":{"list":[{"name":"one","w":2}]}}`},
		{`{"f:spec":{"f:list":{"k:{\"name\":\"one\"}":{"f:gone":{}}}}}`, `null`},
		{`{"f:spec":{"f:list":{"k:{\"name\":\"one\"}":{".":{}}}}}`, `{"spec":{"list":[{"name":"one"}]}}`},
		{`{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}}}}`, `{"spec":{"ports":[{"name":"web","port":80,"protocol":"TCP"}]}}`},
	} {
		u := map[string]any{}
		if err := utiljson.Unmarshal([]byte(object), &u); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(partOf(u, fieldSet([]byte(tc.fields))))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s, want %s (%v)", tc.fields, got, tc.want, err)
		}
	}
}

// TestRealAdoptionByDeclaration checks that the YAML overrides the session's setting.
func TestRealAdoptionByDeclaration(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	for _, tc := range []struct {
		name, policy string
		session, ok  bool
	}{{"one", model.AdoptAlways, false, true}, {"two", model.AdoptNever, true, false}} {
		text := strings.Replace(configYAML, "name: conf", "name: "+tc.name+", annotations: {hone.dev/adopt: "+tc.policy+"}", 1)
		c.create(t, text, nil, "kubectl-create")
		_, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: c.inject(t, text), Adopt: tc.session})
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.policy, err)
		}
	}
}

// TestRealLostLabel removes a label of hone from an object that was applied before. The label comes back if the user restores or adopts
// the object, which then is as if it had never been without. Otherwise nothing is written, and neither is an object of another UID.
func TestRealLostLabel(t *testing.T) {
	for _, lost := range ownerLabels {
		for _, tc := range []struct {
			name           string
			reclaim, adopt bool
			uid            string
			want           string
		}{
			{name: "an update", want: "configmap/conf: its label " + lost + " was removed, so that hone does not write it"},
			{name: "restored", reclaim: true},
			{name: "adopted", adopt: true},
			{name: "another object", reclaim: true, uid: "other-", want: "configmap/conf exists already: its label " + lost + " was removed, so that hone does not know it as its own"},
		} {
			t.Run(path.Base(lost)+" "+tc.name, func(t *testing.T) {
				t.Parallel()
				c := realCluster(t)
				objects := c.inject(t, configYAML)
				done, _ := c.mustApply(t, objects)
				c.changedBy(t, byHand{"kubectl-label", "conf", `{"metadata":{"labels":{"` + lost + `":null}}}`})
				before := c.get(t, objects[0])
				req := ApplyRequest{Resource: "web", Objects: objects, Reclaim: tc.reclaim, Adopt: tc.adopt,
					Before: func(model.ObjectID) string { return tc.uid + done[0].UID }}
				a := NewApplier(c.dyn, c.mapper)
				_, err := a.Apply(t.Context(), req)
				live := c.get(t, objects[0])
				switch p, _ := problem.Of(err); {
				case tc.want == "" && (err != nil || !a.owns("project1", live) || annotation(live, AnnotationAdopted) != "" || live.GetUID() != before.GetUID()):
					t.Errorf("%v, labels %v, annotations %v", err, live.GetLabels(), live.GetAnnotations())
				case tc.want != "" && (p == nil || p.Summary != tc.want || live.GetResourceVersion() != before.GetResourceVersion()):
					t.Errorf("%v, labels %v", err, live.GetLabels())
				}
			})
		}
	}
}

// TestRealSharedNamespace uses a namespace that others made, and never owns it.
func TestRealSharedNamespace(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	ns := c.inject(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+c.namespace+", labels: {tier: dev}}\n")
	done, log := c.mustApply(t, ns)
	live := c.get(t, ns[0])
	if label(live, LabelManagedBy) != "" || annotation(live, AnnotationAppliedHash) != "" || label(live, "tier") != "dev" || !done[0].Foreign {
		t.Errorf("labels %v, applied %+v\n%s", live.GetLabels(), done, log)
	}
	if done, _ = c.mustApply(t, ns); !done[0].Foreign || c.get(t, ns[0]).GetResourceVersion() != live.GetResourceVersion() {
		t.Error("the second apply changed it")
	}
	_, err := c.client(t, live).Patch(t.Context(), live.GetName(), types.MergePatchType, []byte(`{"metadata":{"labels":{"tier":"theirs"}}}`), metav1.PatchOptions{FieldManager: "ops"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.apply(t, ns)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, `.metadata.labels.tier was set by "ops"`) {
		t.Errorf("a label that others set: %v", err)
	}
	err = NewApplier(c.dyn, c.mapper).Delete(t.Context(), DeleteRequest{Objects: refsOf(ns), Project: "project1", Wait: true, WaitLimit: time.Second})
	if err != nil || c.get(t, live).GetDeletionTimestamp() != nil {
		t.Errorf("it was deleted, %v", err)
	}
}

// TestRealNamespaceOfOthers keeps a namespace that hone made while it holds objects of another hone project or adopted
// objects.
func TestRealNamespaceOfOthers(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	name := "hone-test-" + randomText()
	ns := c.inject(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n")
	c.mustApply(t, ns)
	t.Cleanup(func() {
		_ = c.client(t, ns[0]).Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{})
	})
	inside := c
	inside.namespace = name
	inside.mustApply(t, inside.injectAs(t, "web", "project2", configYAML))
	log := &recorder{}
	del := DeleteRequest{Objects: refsOf(ns), Project: "project1", Wait: true, Logger: log}
	if err := NewApplier(c.dyn, c.mapper).Delete(t.Context(), del); err != nil {
		t.Fatal(err)
	}
	if c.get(t, ns[0]).GetDeletionTimestamp() != nil || !strings.Contains(log.String(), "holds objects that") {
		t.Errorf("it was deleted: %s", log)
	}
}

// TestRestored restores the values that the marks replaced and keeps the rest.
func TestRestored(t *testing.T) {
	got := restored(map[string]string{LabelManagedBy: "hone", LabelProject: "p", "app": "x"}, markLabels, map[string]string{LabelManagedBy: "Helm"})
	if diff := cmp.Diff(map[string]string{LabelManagedBy: "Helm", "app": "x"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{}, restored(map[string]string{LabelProject: "p"}, markLabels, nil)); diff != "" {
		t.Error(diff)
	}
}

// TestForeignTo names the maker of an object, and the label that others have removed from one of hone.
func TestForeignTo(t *testing.T) {
	a := &Applier{projects: func(id string) string { return map[string]string{"p2": "/src/two/Tiltfile"}[id] }}
	for _, tt := range []struct {
		labels  map[string]string
		applied bool
		want    string
	}{
		{map[string]string{LabelManagedBy: ManagedByHone, LabelProject: "p2"}, true, "it belongs to the project of /src/two/Tiltfile"},
		{map[string]string{LabelManagedBy: ManagedByHone}, true, "its label " + LabelProject + " was removed, so that hone does not know it as its own"},
		{map[string]string{LabelProject: "p1"}, true, "its label " + LabelManagedBy + " was removed, so that hone does not know it as its own"},
		{map[string]string{LabelManagedBy: "Helm"}, false, `it is managed by "Helm"`},
		{nil, false, "hone did not make it"},
	} {
		live := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}
		live.SetLabels(tt.labels)
		if tt.applied {
			live.SetAnnotations(map[string]string{AnnotationAppliedHash: "x"})
		}
		if got := a.foreignTo(live); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.labels, got, tt.want)
		}
	}
}
