package deploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
)

func TestDeleteTakesDependentsFirst(t *testing.T) {
	for _, wait := range []bool{false, true} {
		c := fakeCluster(t)
		objects := c.inject(t, "\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns2}\n---\n"+
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns2}\n---\n"+
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: free, namespace: ns2}\n---\n"+
			"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns2}\nspec: {containers: [{name: a, envFrom: [{secretRef: {name: s}}]}]}\n")
		c.mustApply(t, objects)
		a := NewApplier(c.dyn, c.mapper, WithParallelism(1))
		if err := a.Delete(t.Context(), DeleteRequest{Objects: refsOf(objects), Wait: wait}); err != nil {
			t.Fatal(err)
		}
		got := c.dyn.(*deploytest.Server).Deletions()
		if diff := cmp.Diff([]string{"pods/p", "secrets/s", "configmaps/free", "namespaces/ns2"}, got); diff != "" {
			t.Errorf("wait %v: %s", wait, diff)
		}
	}
}

func TestDeleteSparesWhatItIsTold(t *testing.T) {
	c := fakeCluster(t)
	objects := c.inject(t, "\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns2}\n---\n"+
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: ns2}\n")
	c.mustApply(t, objects)
	var got []DeleteOutcome
	req := DeleteRequest{Objects: refsOf(objects), KeepNamespaces: true, KeepVolumes: true,
		Done: func(_ ObjectRef, o DeleteOutcome) { got = append(got, o) }}
	if err := NewApplier(c.dyn, c.mapper).Delete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []DeleteOutcome{OutcomeKept, OutcomeKept}) {
		t.Errorf("got %v", got)
	}
}

func TestCollectKeepsTheRecordsOfWhatItSpares(t *testing.T) {
	c := fakeCluster(t)
	memory := openLedger(t, t.TempDir())
	objects := c.inject(t, "\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns2}\n---\n"+
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: ns2}\n---"+configYAML)
	if err := memory.Record("web", RecordsFor(objects)); err != nil {
		t.Fatal(err)
	}
	c.mustApply(t, objects)
	a := NewApplier(c.dyn, c.mapper)
	if err := a.Collect(t.Context(), CollectRequest{Memory: memory, Resource: "web", Applied: nil}); err != nil {
		t.Fatal(err)
	}
	if got := c.dyn.(*deploytest.Server).Deletions(); !slices.Equal(got, []string{"configmaps/conf"}) {
		t.Errorf("deleted %v", got)
	}
	var kinds []string
	for _, r := range contents(t, memory)["web"] {
		kinds = append(kinds, r.Kind)
	}
	if diff := cmp.Diff([]string{"Namespace", "PersistentVolumeClaim"}, kinds); diff != "" {
		t.Error(diff)
	}
}
