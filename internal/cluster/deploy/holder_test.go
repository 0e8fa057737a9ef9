package deploy

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// site is a place from which a project is deployed.
type site struct {
	cluster
	a       *Applier
	objects []*unstructured.Unstructured
}

// from returns the site with the given names. It declares the object conf.
func (c cluster) from(t *testing.T, holders []string, shared bool) site {
	t.Helper()
	text := configYAML
	if shared {
		text = annotated(text, model.AnnotationShared, model.SharedTrue)
	}
	in := InjectRequest{Resource: "web", Project: "project1", Namespace: c.namespace, Target: model.K8sTarget{Objects: objectsOf(t, text)}}
	if len(holders) > 0 {
		in.Holder = holders[0]
	}
	objects, err := Inject(in, c.mapper)
	if err != nil {
		t.Fatal(err)
	}
	return site{c, NewApplier(c.dyn, c.mapper, WithHolders(holders)), objects}
}

func (p site) apply(t *testing.T, adopt bool) error {
	_, err := p.a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: p.objects, Namespace: p.namespace, Adopt: adopt})
	return err
}

func (p site) plans(t *testing.T, adopt bool) api.PlanAction {
	t.Helper()
	steps, err := p.a.Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: p.namespace, Adopt: adopt,
		Declared: []Declared{{Resource: "web", Objects: p.objects}}})
	if err != nil || len(steps) != 1 {
		t.Fatalf("%+v, %v", steps, err)
	}
	return steps[0].Action
}

func (p site) deletes(t *testing.T) (outcome DeleteOutcome) {
	t.Helper()
	err := p.a.Delete(t.Context(), DeleteRequest{Objects: refsOf(p.objects), Project: "project1", Done: func(_ ObjectRef, o DeleteOutcome) { outcome = o }})
	if err != nil {
		t.Error(err)
	}
	return outcome
}

// TestHolders deploys one project from two places: the second one touches nothing of the first, unless it may.
func TestHolders(t *testing.T) {
	alice, bob := []string{"alice@one"}, []string{"bob@two"}
	for _, tc := range []struct {
		name         string
		first, then  []string
		adopt        bool
		plan         api.PlanAction
		holder       string // after the second deploy
		firstDeletes DeleteOutcome
	}{
		{"the same place", alice, alice, false, api.ActionUnchanged, "alice@one", OutcomeDeleted},
		{"another place", alice, bob, false, api.ActionBlocked, "alice@one", OutcomeDeleted},
		{"another place, which may take over", alice, bob, true, api.ActionAdopt, "bob@two", OutcomeForeign},
		{"a common name", []string{"team", "alice@one"}, []string{"team", "bob@two"}, false, api.ActionUnchanged, "team", OutcomeDeleted},
		{"the name of the other place", alice, []string{"alice@one", "bob@two"}, false, api.ActionUnchanged, "alice@one", OutcomeDeleted},
		{"a new name of the same place", alice, []string{"team", "alice@one"}, false, api.ActionUnchanged, "team", OutcomeForeign},
		{"a version without holders", nil, bob, false, api.ActionUnchanged, "bob@two", OutcomeDeleted},
	} {
		for _, shared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, shared: %t", tc.name, shared), func(t *testing.T) {
				c := fakeCluster(t)
				first, second := c.from(t, tc.first, shared), c.from(t, tc.then, shared)
				if err := first.apply(t, false); err != nil {
					t.Fatal(err)
				}
				before := c.get(t, first.objects[0])
				plan := tc.plan
				if shared && plan == api.ActionUnchanged && first.a.holderOf("project1", before) != tc.holder {
					plan = api.ActionUpdate // the mark of a sharer is part of the object
				}
				if got := second.plans(t, tc.adopt); got != plan {
					t.Errorf("the plan is %s, want %s", got, plan)
				}
				err := second.apply(t, tc.adopt)
				live := c.get(t, first.objects[0])
				if tc.plan == api.ActionBlocked {
					p, ok := problem.Of(err)
					if !ok || !strings.Contains(p.Summary, "this project was deployed by alice@one") || !strings.Contains(p.Mend, "HONE_HOLDER=alice@one") {
						t.Errorf("refused: %v", err)
					}
					if live.GetResourceVersion() != before.GetResourceVersion() {
						t.Error("it was written")
					}
					if got := second.deletes(t); got != OutcomeForeign {
						t.Errorf("the other place deletes it: %s", got)
					}
				} else if err != nil {
					t.Error(err)
				}
				if got := first.a.holderOf("project1", live); got != tc.holder {
					t.Errorf("held by %q, want %q", got, tc.holder)
				}
				if got := first.deletes(t); got != tc.firstDeletes {
					t.Errorf("the first place deletes it: %s, want %s", got, tc.firstDeletes)
				}
			})
		}
	}
}
