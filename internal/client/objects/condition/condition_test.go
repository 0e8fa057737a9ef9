package condition

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var object = &unstructured.Unstructured{Object: map[string]any{
	"metadata": map[string]any{"name": "web"},
	"status": map[string]any{
		"updateStatus": "ok", "count": int64(3), "on": true, "empty": nil,
		"list": []any{map[string]any{"n": "a"}, map[string]any{"n": "b"}},
		"conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "reason": "RuntimeError", "message": "it crashed"},
			map[string]any{"type": "UpToDate", "status": "True"},
			"nonsense",
		},
	},
}}

func TestMet(t *testing.T) {
	for _, tc := range []struct {
		text    string
		object  *unstructured.Unstructured
		met     bool
		instead string
	}{
		{"delete", nil, true, ""},
		{"delete", object, false, "it is still there"},
		{"create", object, true, ""},
		{"create", nil, false, "there is no such object"},
		{"condition=UpToDate", object, true, ""},
		{"condition=uptodate=TRUE", object, true, ""},
		{"condition=Ready", object, false, "Ready is False: RuntimeError: it crashed"},
		{"condition=Ready=false", object, true, ""},
		{"condition=Nice", object, false, "it has no condition Nice, but Ready, UpToDate"},
		{"condition=Ready", nil, false, "there is no such object"},
		{"condition=Ready", &unstructured.Unstructured{Object: map[string]any{}}, false, "it has no conditions"},
		{"jsonpath={.status.updateStatus}=ok", object, true, ""},
		{"jsonpath='{.status.updateStatus}'=ok", object, true, ""},
		{`jsonpath="{.status.updateStatus}"="ok"`, object, true, ""},
		{"jsonpath=.status.updateStatus=ok", object, true, ""},
		{"jsonpath=status.updateStatus", object, true, ""},
		{"jsonpath={.status.updateStatus}=error", object, false, "it is ok"},
		{"jsonpath={.status.count}=3", object, true, ""},
		{"jsonpath={.status.on}=true", object, true, ""},
		{"jsonpath={.status.list[*].n}=b", object, true, ""},
		{`jsonpath={.status.conditions[?(@.type=="UpToDate")].status}=True`, object, true, ""},
		{"jsonpath={.status.list[*].n}=c", object, false, "it is a, b"},
		{"jsonpath={.status.nope}", object, false, "it has no value"},
		{"jsonpath={.status.empty}", object, false, "it has no value"},
		{"jsonpath={.status.updateStatus}=", object, false, "it is ok"},
	} {
		c, err := Parse(tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		met, instead := c.Met(tc.object)
		if met != tc.met || instead != tc.instead && !met {
			t.Errorf("%s: %v, %q, want %v, %q", tc.text, met, instead, tc.met, tc.instead)
		}
	}
}

// TestHopeless checks which conditions an object that has failed can no longer meet.
func TestHopeless(t *testing.T) {
	state := func(failed string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"updateStatus": "error", "conditions": []any{
			map[string]any{"type": "Ready", "status": "False"},
			map[string]any{"type": "Failed", "status": failed, "message": "exit code 3"},
		}}}}
	}
	blocked := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"updateStatus": "pending",
		"waiting": map[string]any{"reason": "waiting-for-dep", "blocker": map[string]any{"name": "db", "message": "exit code 3"}}}}}
	for _, tc := range []struct {
		text     string
		object   *unstructured.Unstructured
		hopeless bool
	}{
		{"condition=Ready", blocked, true},
		{"jsonpath={.status.updateStatus}=ok", blocked, true},
		{"condition=Ready=false", blocked, false},
		{"condition=Failed", blocked, false},
		{"condition=Ready", state("True"), true},
		{"condition=ready=TRUE", state("True"), true},
		{"condition=UpToDate", state("True"), true},
		{"jsonpath={.status.updateStatus}=ok", state("True"), true},
		{"jsonpath={.status.runtimeStatus}=not_applicable", state("True"), true},
		{"condition=Ready", state("False"), false},
		{"jsonpath={.status.updateStatus}=ok", state("False"), false},
		{"condition=Ready", object, false},
		{"condition=Ready", nil, false},
		{"condition=Ready=false", state("True"), false},
		{"condition=Failed", state("True"), false},
		{"condition=Failed=false", state("True"), false},
		{"delete", state("True"), false},
		{"create", state("True"), false},
		{"jsonpath={.status.updateStatus}=error", state("True"), false},
		{"jsonpath={.status.lastDeployTime}", state("True"), false},
	} {
		c, err := Parse(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		switch f := c.Hopeless(tc.object); {
		case (f != nil) != tc.hopeless:
			t.Errorf("%s: %v", tc.text, f)
		case f != nil && (f.Why != "exit code 3" || (f.Of == "db") != (tc.object == blocked)):
			t.Errorf("%s: %+v", tc.text, f)
		}
	}
}

// TestFinished checks which states of the Tiltfile decide about resources that do not exist.
func TestFinished(t *testing.T) {
	for _, tc := range []struct {
		upToDate, failed string
		done             bool
		why              string
	}{
		{upToDate: "False", failed: "False"},
		{upToDate: "True", failed: "False", done: true},
		{upToDate: "False", failed: "True", done: true, why: "boom"},
	} {
		tiltfile := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "UpToDate", "status": tc.upToDate},
			map[string]any{"type": "Failed", "status": tc.failed, "message": "boom"},
		}}}}
		if done, why := finished(tiltfile); done != tc.done || why != tc.why {
			t.Errorf("up to date %s, failed %s: %v, %q", tc.upToDate, tc.failed, done, why)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "ready", "condition", "condition=", "jsonpath", "jsonpath=", "jsonpath={.x", "jsonpath={.x}y", "jsonpath={}=1"} {
		if c, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("condition=Ready=false")
	f.Add("jsonpath='{.status.list[*].n}'=b")
	f.Fuzz(func(_ *testing.T, text string) {
		if c, err := Parse(text); err == nil {
			c.Met(object)
			c.Met(nil)
		}
	})
}
