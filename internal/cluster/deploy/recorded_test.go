package deploy

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRecorded: the states of records, as the records and the notes about their objects tell them.
func TestRecorded(t *testing.T) {
	m := openLedger(t, t.TempDir())
	config := func(name string) model.ObjectID {
		return model.ObjectID{Kind: "ConfigMap", Name: name, Namespace: "shop"}
	}
	object := func(name, uid string, annotations map[string]string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		u.SetName(name)
		u.SetNamespace("shop")
		u.SetUID(types.UID(uid))
		u.SetAnnotations(annotations)
		return u
	}
	record := func(name string) ledger.Record { return ledger.Record{ObjectID: config(name), UID: name} }
	leaving, used, commanded := record("leaving"), record("used"), record("commanded")
	leaving.Leaving, used.Foreign, commanded.Foreign = true, true, true
	web := []ledger.Record{record("applied"), record("adopted"), record("again"), record("shared"), leaving, used, {ObjectID: config("pending")}}
	err := errors.Join(m.Replace("web", web, model.Cmd{}),
		m.Replace("chart", []ledger.Record{commanded}, model.Cmd{Argv: []string{"helm", "uninstall", "secret"}}),
		m.RememberFound(object("adopted", "adopted", nil)),
		m.RememberFound(object("again", "the one before", nil)),
		m.Remember(object("shared", "", map[string]string{model.AnnotationShared: model.SharedTrue}), true))
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]RecordedState{}
	for _, r := range all {
		got[string(r.Resource)+" "+r.Title()] = r.State
		if (r.Name == "shared") == r.Since.IsZero() {
			t.Errorf("%s was written at %v", r.Name, r.Since)
		}
	}
	want := map[string]RecordedState{"web configmap/applied": RecordApplied, "web configmap/adopted": RecordAdopted, "web configmap/again": RecordApplied,
		"web configmap/shared": RecordShared, "web configmap/leaving": RecordLeaving, "web configmap/used": RecordUsed, "web configmap/pending": RecordPending,
		"chart configmap/commanded": RecordCommanded, "chart command/chart": RecordRuns}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
