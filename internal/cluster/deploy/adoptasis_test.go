package deploy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRealAdoptAsItIs takes objects of others over without a change of their content, and applies a declaration with fewer fields later.
func TestRealAdoptAsItIs(t *testing.T) {
	for _, m := range made {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			before := m.make(t, c)
			a, log, memory := NewApplier(c.dyn, c.mapper, WithProjects(projectPath)), &recorder{}, openLedger(t, t.TempDir())
			mine := c.inject(t, strings.Replace(configYAML, `{a: "1", b: "2"}`, `{a: "mine"}`, 1))
			d, err := a.NewAdoption(t.Context(), "web", mine[0])
			if m.name == "by another project" {
				if p, ok := problem.Of(err); !ok || p.Summary != "configmap/conf: it belongs to the project of /src/two/Tiltfile" {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Step.Action != api.ActionAdopt {
				t.Errorf("%+v", d.Step)
			}
			if err := a.Adopt(t.Context(), memory, d, log); err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			live := c.get(t, before)
			if diff := cmp.Diff(before.Object["data"], live.Object["data"]); diff != "" || !a.owns("project1", live) {
				t.Errorf("adopted: %s, labels %v", diff, live.GetLabels())
			}
			if d, err := a.NewAdoption(t.Context(), "web", mine[0]); err != nil || d.Step.Action != api.ActionUnchanged {
				t.Errorf("once more: %v, %v", d, err)
			}
			req := ApplyRequest{Resource: "web", Objects: mine, Namespace: c.namespace, Logger: log, Found: memory}
			if _, err := a.Apply(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			req.Objects = c.inject(t, strings.Replace(configYAML, `{a: "1", b: "2"}`, `{c: "3"}`, 1))
			if _, err := a.Apply(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"b": "2", "c": "3"} // as after the adoption by an apply
			if diff := cmp.Diff(want, c.get(t, before).Object["data"]); diff != "" {
				t.Errorf("a field has left the declaration: %s\n%s", diff, log)
			}
			if err := a.Delete(t.Context(), DeleteRequest{Objects: refsOf(mine), Project: "project1", Wait: true, Logger: log, Found: memory}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(look(before), look(c.get(t, before))); diff != "" {
				t.Errorf("given back: %s\n%s", diff, log)
			}
		})
	}
}

// TestUnadoptable: which declared objects are not taken over as they are, and why.
func TestUnadoptable(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(cluster, *testing.T)
		// annotation and value are in the declaration.
		annotation, value, want string
	}{
		{name: "absent", make: func(cluster, *testing.T) {}, want: "configmap/conf does not exist"},
		{name: "read-only", annotation: model.AnnotationReadOnly, value: model.ReadOnlyTrue, want: "configmap/conf is declared read-only: hone only uses it"},
		{name: "shared", annotation: model.AnnotationShared, value: model.SharedTrue, want: "configmap/conf is declared as shared: it stays with those who share it"},
		{name: "never", annotation: model.AnnotationAdopt, value: model.AdoptNever, want: "configmap/conf is declared with hone.dev/adopt: never"},
	} {
		c := fakeCluster(t)
		if tc.make == nil {
			c.create(t, configYAML, nil, "kubectl-create")
		}
		declared := c.inject(t, configYAML)
		if tc.annotation != "" {
			declared = c.inject(t, annotated(configYAML, tc.annotation, tc.value))
		}
		_, err := NewApplier(c.dyn, c.mapper).NewAdoption(t.Context(), "web", declared[0])
		if p, ok := problem.Of(err); !ok || p.Summary != tc.want || p.Mend == "" {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
