package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// sharer is a project that shares the object conf.
type sharer struct {
	cluster
	id  string
	a   *Applier
	log *recorder
}

func (c cluster) sharer(id string) sharer {
	return sharer{c, id, NewApplier(c.dyn, c.mapper, WithProjects(projectPath)), &recorder{}}
}

// declares returns the object with the given data; shared says whether it is declared so.
func (s sharer) declares(t *testing.T, data string, shared bool) []*unstructured.Unstructured {
	text := strings.Replace(configYAML, `{a: "1", b: "2"}`, data, 1)
	if shared {
		text = annotated(text, model.AnnotationShared, model.SharedTrue)
	}
	return s.injectAs(t, "web", s.id, text)
}

func (s sharer) apply(t *testing.T, data string, shared, adopt bool) ([]model.AppliedObject, error) {
	t.Helper()
	return s.a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: s.declares(t, data, shared), Namespace: s.namespace, Adopt: adopt, Logger: s.log})
}

// applies returns the applied object.
func (s sharer) applies(t *testing.T, data string, shared, adopt bool) model.AppliedObject {
	t.Helper()
	done, err := s.apply(t, data, shared, adopt)
	if err != nil || len(done) != 1 {
		t.Fatalf("%s: %v", s.id, err)
	}
	return done[0]
}

func (s sharer) leaves(t *testing.T, o model.AppliedObject) DeleteOutcome {
	t.Helper()
	var outcome DeleteOutcome
	err := s.a.Delete(t.Context(), DeleteRequest{Objects: []ObjectRef{{ObjectID: o.ObjectID, UID: o.UID}}, Project: s.id, Wait: true, WaitLimit: time.Minute, Logger: s.log,
		Done: func(_ ObjectRef, o DeleteOutcome) { outcome = o }})
	if err != nil {
		t.Errorf("%s leaves: %v", s.id, err)
	}
	return outcome
}

func (s sharer) preview(t *testing.T, data string) string {
	t.Helper()
	steps, err := s.a.Preview(t.Context(), PreviewRequest{Project: s.id, Namespace: s.namespace,
		Declared: []Declared{{Resource: "web", Objects: s.declares(t, data, true)}}})
	if err != nil || len(steps) != 1 {
		t.Fatalf("%s: %v %v", s.id, steps, err)
	}
	return string(steps[0].Action) + ": " + steps[0].Reason
}

func (s sharer) data(t *testing.T, live *unstructured.Unstructured) string {
	t.Helper()
	raw, err := json.Marshal(live.Object["data"])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + " " + strings.Join(sharersOf(live), " ")
}

// TestRealShared lets two projects share an object (V13): the second one joins, each leaves by itself, and the last one deletes it.
func TestRealShared(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	one, two := c.sharer("project1"), c.sharer("project2")
	object := one.declares(t, `{a: "1"}`, true)[0]
	if got := one.preview(t, `{a: "1"}`); got != "create: " {
		t.Error(got)
	}
	made := one.applies(t, `{a: "1"}`, true, false)
	if got := two.preview(t, `{a: "1"}`); got != "update: it is shared by another project (project1), and by this one then" {
		t.Error(got)
	}
	joined := two.applies(t, `{a: "1"}`, true, false)
	if made.UID != joined.UID || made.Foreign || joined.Foreign {
		t.Errorf("%+v, %+v", made, joined)
	}
	live := c.get(t, object)
	if got := one.data(t, live); got != `{"a":"1"} project1 project2` || label(live, LabelProject) != "" {
		t.Errorf("%s, labels %v", got, live.GetLabels())
	}
	one.applies(t, `{a: "1"}`, true, false)
	two.applies(t, `{a: "1"}`, true, false)
	if c.get(t, object).GetResourceVersion() != live.GetResourceVersion() {
		t.Error("what is up to date was written")
	}
	for data, want := range map[string]string{
		`{a: "2"}`:         "configmap/conf is shared, and declared differently:\n  .data.a has another value in the project of /src/two/Tiltfile",
		`{a: "1", b: "2"}`: "configmap/conf is shared, and declared differently:\n  other fields are declared in the project of /src/two/Tiltfile",
	} {
		_, err := one.apply(t, data, true, false)
		if p, ok := problem.Of(err); !ok || p.Summary != want {
			t.Errorf("%s: %v", data, err)
		}
		if got := one.preview(t, data); got != "blocked: "+want {
			t.Errorf("preview of %s: %s", data, got)
		}
	}
	_, err := c.sharer("project3").apply(t, `{a: "1"}`, false, false)
	if p, ok := problem.Of(err); !ok || p.Summary != "configmap/conf exists already: it is shared by another project (project1) and the project of /src/two/Tiltfile" {
		t.Errorf("a project that does not share it: %v", err)
	}
	if got := c.sharer("project3").leaves(t, made); got != OutcomeForeign {
		t.Errorf("a project that does not share it deleted it: %s", got)
	}
	if c.get(t, object).GetResourceVersion() != live.GetResourceVersion() {
		t.Error("what was refused was written")
	}
	one.applies(t, `{b: "2"}`, true, true) // it wins, as allowed
	if got := one.data(t, c.get(t, object)); got != `{"a":"1","b":"2"} project1 project2` {
		t.Errorf("one wins: %s", got)
	}
	steps, err := two.a.Preview(t.Context(), PreviewRequest{Project: two.id, Records: map[model.ManifestName][]ledger.Record{"web": ledger.Of([]model.AppliedObject{joined})}})
	if err != nil || len(steps) != 1 || steps[0].Action != api.ActionOrphan || !strings.Contains(steps[0].Reason, "it stays with another project (project1), which share it") {
		t.Errorf("preview of leaving: %s %v", stepsText(steps), err)
	}
	if got := two.leaves(t, joined); got != OutcomeGivenBack || !strings.Contains(two.log.String(), "leaves conf:configmap to another project (project1)") {
		t.Errorf("two leaves: %s\n%s", got, two.log)
	}
	live = c.get(t, object)
	if got := one.data(t, live); got != `{"b":"2"} project1` || string(live.GetUID()) != made.UID {
		t.Errorf("two has left: %s", got)
	}
	if got := two.leaves(t, joined); got != OutcomeForeign {
		t.Errorf("two leaves once more: %s", got)
	}
	if got := one.leaves(t, made); got != OutcomeDeleted || c.get(t, object) != nil {
		t.Errorf("one leaves: %s", got)
	}
}

// TestRealSharedFromOwn lets a project share an object that was its own, and take it back.
func TestRealSharedFromOwn(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	one, two := c.sharer("project1"), c.sharer("project2")
	object := one.declares(t, `{a: "1"}`, true)[0]
	uid := one.applies(t, `{a: "1", b: "2"}`, false, false).UID
	one.applies(t, `{a: "1"}`, true, false)
	live := c.get(t, object)
	if got := one.data(t, live); got != `{"a":"1"} project1` || label(live, LabelProject) != "" || label(live, LabelResource) != "" {
		t.Errorf("shared now: %s %v", got, live.GetLabels())
	}
	joined := two.applies(t, `{a: "1"}`, true, false)
	if _, err := one.apply(t, `{a: "1"}`, false, false); err == nil {
		t.Error("one took it back while two shared it")
	}
	two.leaves(t, joined)
	one.applies(t, `{c: "3"}`, false, false)
	live = c.get(t, object)
	if got := one.data(t, live); got != `{"c":"3"} ` || label(live, LabelProject) != "project1" || string(live.GetUID()) != uid {
		t.Errorf("its own again: %s %v", got, live.GetLabels())
	}
	for _, m := range live.GetManagedFields() {
		if strings.HasPrefix(m.Manager, sharingManager("")) {
			t.Errorf("%s still owns fields", m.Manager)
		}
	}
}

// TestRealSharersLeaveTogether lets the last two sharers leave at the same time, and a third one join meanwhile: an object that no
// project shares is deleted, and one that a project has just joined is not.
func TestRealSharersLeaveTogether(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	one, two, three := c.sharer("project1"), c.sharer("project2"), c.sharer("project3")
	object := one.declares(t, `{a: "1"}`, true)[0]
	for round := range 15 {
		a, b := one.applies(t, `{a: "1"}`, true, false), two.applies(t, `{a: "1"}`, true, false)
		var wg sync.WaitGroup
		wg.Go(func() { one.leaves(t, a) })
		wg.Go(func() { two.leaves(t, b) })
		var late []model.AppliedObject
		if round%3 == 2 {
			wg.Go(func() { late, _ = three.apply(t, `{a: "1"}`, true, false) })
		}
		wg.Wait()
		live := c.get(t, object)
		switch {
		case len(late) == 0 && live != nil:
			t.Fatalf("round %d: no project shares it, and it is there: %s", round, one.data(t, live))
		case len(late) > 0 && live == nil:
			t.Fatalf("round %d: it was deleted after project3 had joined", round)
		case len(late) > 0:
			if got := one.data(t, live); got != `{"a":"1"} project3` {
				t.Errorf("round %d: %s", round, got)
			}
			three.leaves(t, late[0])
		}
	}
	if err := c.client(t, object).Delete(context.WithoutCancel(t.Context()), "conf", metav1.DeleteOptions{}); err == nil {
		t.Error("it was left behind")
	}
}

// TestRealSharedIgnores leaves a field of a shared object to others, as one of an own object: it stays, whoever owns it, when another
// field changes.
func TestRealSharedIgnores(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	s := c.sharer("project1")
	apply := func(b string) string {
		t.Helper()
		text := strings.Replace(configYAML, `{a: "1", b: "2"}`, `{a: "1", b: "`+b+`"}`, 1)
		text = strings.Replace(text, "name: conf", `name: conf, annotations: {hone.dev/shared: "true", hone.dev/ignore: /data/a}`, 1)
		objects := c.injectAs(t, "web", s.id, text)
		if _, err := s.a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Namespace: c.namespace, Logger: s.log}); err != nil {
			t.Fatal(err)
		}
		return s.data(t, c.get(t, objects[0]))
	}
	if got := apply("2"); got != `{"a":"1","b":"2"} project1` {
		t.Errorf("created: %s", got)
	}
	if got := apply("3"); got != `{"a":"1","b":"3"} project1` {
		t.Errorf("nothing but hone owns the ignored field: %s", got)
	}
	c.merge(t, s.declares(t, `{}`, true)[0], `{"data":{"a":"theirs"}}`)
	if got := apply("4"); got != `{"a":"theirs","b":"4"} project1` {
		t.Errorf("others own the ignored field: %s", got)
	}
}

// TestRealNamespaceOfTwoProjects: a project that declares the Namespace of another one removes none of its labels, and takes back only
// its own.
func TestRealNamespaceOfTwoProjects(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	name := "hone-test-" + randomText()
	declare := func(project, labels string) []*unstructured.Unstructured {
		return c.injectAs(t, "ns", project, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+", labels: {"+labels+"}}\n")
	}
	first := declare("p1", "team: one")
	t.Cleanup(func() {
		_ = c.client(t, first[0]).Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{})
	})
	apply := func(objects []*unstructured.Unstructured) model.AppliedObject {
		done, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "ns", Objects: objects, Namespace: c.namespace})
		if err != nil || len(done) != 1 {
			t.Fatal(err)
		}
		return done[0]
	}
	preview := func(project string, objects []*unstructured.Unstructured) string {
		steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: project, Declared: []Declared{{Resource: "ns", Objects: objects}}})
		if err != nil {
			t.Fatal(err)
		}
		return stepsText(steps)
	}
	labels := func() string {
		live := c.get(t, first[0])
		return fmt.Sprint(label(live, LabelProject), " ", label(live, "team"), " ", label(live, "b"))
	}
	apply(first)
	const shares = ": made by others, and shared: hone never deletes it"
	for _, step := range []struct{ project, labels, plan, want string }{
		{"p2", "b: two", "update namespace/" + name + shares + "\n  change metadata.labels.b: <nil> > two", "p1 one two"},
		{"p3", "b: two", "unchanged namespace/" + name + shares, "p1 one two"},
		{"p1", "team: one", "unchanged namespace/" + name, "p1 one two"},
		{"p2", "", "unchanged namespace/" + name + shares, "p1 one two"},
		{"p3", "", "update namespace/" + name + shares + "\n  removal metadata.labels.b: two > <nil>", "p1 one "},
	} {
		objects := declare(step.project, step.labels)
		if got := preview(step.project, objects); got != step.plan {
			t.Errorf("%s with %q: the plan is\n%s\nwant\n%s", step.project, step.labels, got, step.plan)
		}
		if o := apply(objects); o.Foreign != (step.project != "p1") {
			t.Errorf("%s with %q: foreign is %t", step.project, step.labels, o.Foreign)
		}
		if got := labels(); got != step.want {
			t.Errorf("%s with %q: %q, want %q", step.project, step.labels, got, step.want)
		}
	}
}
