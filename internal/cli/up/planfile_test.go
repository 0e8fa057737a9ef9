package up

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func samplePlan(steps ...api.PlanStep) api.Plan {
	return planOf("/src/Tiltfile", "dev", steps)
}

func stepOn(name string, action api.PlanAction, fields ...api.FieldChange) api.PlanStep {
	return api.PlanStep{Object: api.PlanObject{Kind: "ConfigMap", Namespace: "shop", Name: name}, Resource: "web", Action: action, Fields: fields}
}

// TestPlanFile writes a plan and reads it again.
func TestPlanFile(t *testing.T) {
	secrets := &command.Secrets{}
	secrets.Learn([]model.Secret{{Name: "token", Key: "password", Value: "hunter22hunter"}})
	path := filepath.Join(t.TempDir(), "next.plan")
	plan := samplePlan(stepOn("conf", api.ActionUpdate, api.FieldChange{Path: "data.a", Class: api.ChangeWanted, From: "x", To: "hunter22hunter"}))
	if err := writePlanFile(path, planFile{Args: []string{"web"}, Namespace: "shop", Adopt: true, Plan: plan}, secrets); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), "hunter22") {
		t.Errorf("%v\n%s", err, raw)
	}
	got, names, err := readPlanFile([]string{path, "api"})
	if err != nil || !slices.Equal(names, []string{"api"}) {
		t.Fatalf("%v, %v", names, err)
	}
	if lines, err := stale(got.Plan, plan, false, secrets); len(lines) > 0 || err != nil {
		t.Errorf("the same plan is stale: %v, %v", lines, err)
	}
	got.Plan = api.Plan{}
	if diff := cmp.Diff(&planFile{Kind: planKind, Format: planFormat, Args: []string{"web"}, Namespace: "shop", Adopt: true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	refused := samplePlan(stepOn("conf", api.ActionBlocked), stepOn("other", api.ActionCreate))
	refused.Steps[0].Reason = "the password is hunter22hunter"
	blocked := filepath.Join(t.TempDir(), "blocked.plan")
	if err := writePlanFile(blocked, planFile{Plan: refused}, secrets); err == nil || !strings.Contains(err.Error(), "1 blocked") && !strings.Contains(err.Error(), "configmap/conf") {
		t.Errorf("a plan that would be refused: %v", err)
	}
	if _, err := os.Stat(blocked); err == nil {
		t.Error("it was written")
	}
}

// TestReadPlanFile reads arguments that are no plans: names of resources, and files of other kinds.
func TestReadPlanFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"web": "a binary", "notes.json": "{}", "old.plan": `{"kind":"hone plan","format":99}`} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args  []string
		names []string
		err   string
	}{
		{nil, nil, ""},
		{[]string{"web"}, []string{"web"}, ""}, // a file of that name is no plan
		{[]string{"api", "web"}, []string{"api", "web"}, ""},
		{[]string{"notes.json"}, nil, "notes.json is not a plan"},
		{[]string{"./missing"}, nil, "there is no plan ./missing"},
		{[]string{"missing.plan"}, nil, "there is no plan missing.plan"},
		{[]string{"old.plan"}, nil, "has format 99"},
	} {
		f, names, err := readPlanFile(tc.args)
		if f != nil || !slices.Equal(names, tc.names) || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%v: %v, %v, %v", tc.args, f, names, err)
		}
	}
}

// TestStale compares a shown plan with a new one.
func TestStale(t *testing.T) {
	secrets := &command.Secrets{}
	field := func(from string) api.FieldChange {
		return api.FieldChange{Path: "data.a", Class: api.ChangeWanted, From: from, To: "two"}
	}
	remade := stepOn("a", api.ActionUnchanged)
	remade.UID = "another"
	for _, tc := range []struct {
		name       string
		shown, now []api.PlanStep
		some       bool
		want       string
	}{
		{name: "the same", shown: []api.PlanStep{stepOn("a", api.ActionUpdate, field("one"))}, now: []api.PlanStep{stepOn("a", api.ActionUpdate, field("one"))}},
		{name: "in another order", shown: []api.PlanStep{stepOn("a", api.ActionCreate), stepOn("b", api.ActionCreate)}, now: []api.PlanStep{stepOn("b", api.ActionCreate), stepOn("a", api.ActionCreate)}},
		{name: "another value in the cluster", shown: []api.PlanStep{stepOn("a", api.ActionUpdate, field("one"))}, now: []api.PlanStep{stepOn("a", api.ActionUpdate, field("zero"))},
			want: "configmap/a in shop: update, in another way than the plan shows"},
		{name: "another object", shown: []api.PlanStep{stepOn("a", api.ActionUnchanged)}, now: []api.PlanStep{remade}, want: "configmap/a in shop: unchanged, in another way than the plan shows"},
		{name: "one more", now: []api.PlanStep{stepOn("a", api.ActionDelete)}, want: "configmap/a in shop: delete, and it was not in the plan"},
		{name: "one less", shown: []api.PlanStep{stepOn("a", api.ActionDelete)}, want: "configmap/a in shop: the plan says delete, and nothing would happen now"},
		{name: "one less, for some names", shown: []api.PlanStep{stepOn("a", api.ActionDelete)}, some: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines, err := stale(samplePlan(tc.shown...), samplePlan(tc.now...), tc.some, secrets)
			if got := strings.Join(lines, "\n"); got != tc.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
