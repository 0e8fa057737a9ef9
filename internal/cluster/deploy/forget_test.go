package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRealForget forgets objects (K22): they stay as they are, with the marks of other projects and without those of this one.
func TestRealForget(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(*testing.T, cluster) *unstructured.Unstructured
		// sharers are the projects that share the object afterwards.
		sharers []string
		// by is the value of the label of the tool that manages it.
		by string
	}{
		{name: "made", make: func(t *testing.T, c cluster) *unstructured.Unstructured {
			u := c.inject(t, configYAML)
			c.mustApply(t, u)
			return u[0]
		}},
		{name: "adopted", by: "Helm", make: func(t *testing.T, c cluster) *unstructured.Unstructured {
			c.create(t, configYAML, map[string]string{LabelManagedBy: "Helm"}, "helm")
			u := c.inject(t, annotated(configYAML, "hone.dev/adopt", "always"))
			c.mustApply(t, u)
			return u[0]
		}},
		{name: "shared with none", make: func(t *testing.T, c cluster) *unstructured.Unstructured {
			one := c.sharer("project1")
			one.applies(t, `{a: "1"}`, true, false)
			return one.declares(t, `{a: "1"}`, true)[0]
		}},
		{name: "shared with another project", sharers: []string{"project2"}, by: ManagedByHone, make: func(t *testing.T, c cluster) *unstructured.Unstructured {
			one, two := c.sharer("project1"), c.sharer("project2")
			one.applies(t, `{a: "1"}`, true, false)
			two.applies(t, `{a: "1"}`, true, false)
			return one.declares(t, `{a: "1"}`, true)[0]
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			declared := tc.make(t, c)
			before := c.get(t, declared)
			log := &recorder{}
			var outcome DeleteOutcome
			err := NewApplier(c.dyn, c.mapper).Delete(t.Context(), DeleteRequest{Objects: refsOf([]*unstructured.Unstructured{declared}), Project: "project1",
				Removal: RemovalForgotten, Found: openLedger(t, t.TempDir()), Logger: log, Done: func(_ ObjectRef, o DeleteOutcome) { outcome = o }})
			if err != nil || outcome != OutcomeGivenBack {
				t.Fatalf("%v, %s\n%s", err, outcome, log)
			}
			after := c.get(t, declared)
			if diff := cmp.Diff(before.Object["data"], after.Object["data"]); after.GetUID() != before.GetUID() || diff != "" {
				t.Errorf("its content: %s", diff)
			}
			if diff := cmp.Diff(tc.sharers, sharersOf(after)); diff != "" {
				t.Errorf("its sharers: %s", diff)
			}
			if label(after, LabelProject) != "" || label(after, LabelManagedBy) != tc.by {
				t.Errorf("its labels: %v", after.GetLabels())
			}
			for _, f := range after.GetManagedFields() {
				if f.Manager == FieldManager && isApply(f) || f.Manager == sharingManager("project1") {
					t.Errorf("%s still owns fields", f.Manager)
				}
			}
		})
	}
}
