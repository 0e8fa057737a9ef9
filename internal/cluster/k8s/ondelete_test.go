package k8s

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/pkg/model"
)

// TestOnDelete: a StatefulSet whose pods are replaced only once they are deleted is current when all of them are ready and have its
// newest template.
func TestOnDelete(t *testing.T) {
	for _, tc := range []struct{ name, status, health, message string }{
		{"not seen by its controller", `{observedGeneration: 1}`, model.HealthInProgress, ""},
		{"without pods", `{observedGeneration: 2}`, model.HealthInProgress, "Replicas: 0/2"},
		{"one is not ready", `{observedGeneration: 2, replicas: 2, readyReplicas: 1, updatedReplicas: 2}`, model.HealthInProgress, "Ready: 1/2"},
		{"all are of an earlier template", `{observedGeneration: 2, replicas: 2, readyReplicas: 2, currentReplicas: 2, currentRevision: a, updateRevision: b}`,
			model.HealthInProgress, "updated: 0/2; its update strategy is OnDelete: delete the outdated pods"},
		{"one is", `{observedGeneration: 2, replicas: 2, readyReplicas: 2, currentReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: b}`,
			model.HealthInProgress, "updated: 1/2; its update strategy is OnDelete: delete the outdated pods"},
		{"none is", `{observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 2, currentRevision: a, updateRevision: b}`, model.HealthCurrent, ""},
	} {
		u := &unstructured.Unstructured{}
		text := `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, generation: 2}, spec: {replicas: 2, updateStrategy: {type: OnDelete}}, status: ` + tc.status + `}`
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err == nil {
			err = u.UnmarshalJSON(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := ObjectEventFrom(u).Status
		if got.Health != tc.health || tc.message != "" && got.Message != tc.message || strings.TrimSpace(got.Message) == "" {
			t.Errorf("%s: %s, %q", tc.name, got.Health, got.Message)
		}
		if how, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "type"); how != "OnDelete" {
			t.Errorf("%s: the object was changed", tc.name)
		}
	}
}
