package k8s

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMetadataEvent checks which writes to an object change the event of a watch of its metadata.
func TestMetadataEvent(t *testing.T) {
	at := func(minute int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
	}
	entry := func(manager, subresource, fields string, minute int) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Operation: "Apply", Time: at(minute), FieldsV1: metav1.NewFieldsV1(fields)}
	}
	before := metav1.ObjectMeta{Name: "web", UID: "u", Generation: 1, ResourceVersion: "1", ManagedFields: []metav1.ManagedFieldsEntry{
		entry("hone", "", `{"f:spec":{"f:replicas":{},"f:paused":{}}}`, 1), entry("kubelet", "status", `{"f:status":{}}`, 1)}}
	for _, tc := range []struct {
		name            string
		change          func(m *metav1.ObjectMeta)
		owned, revision bool
	}{
		{"nothing", func(*metav1.ObjectMeta) {}, false, false},
		{"the status", func(m *metav1.ObjectMeta) {
			m.ResourceVersion, m.ManagedFields[1] = "2", entry("kubelet", "status", `{"f:status":{"f:x":{}}}`, 2)
		}, false, false},
		{"a field of others", func(m *metav1.ObjectMeta) {
			m.ResourceVersion, m.Generation = "2", 2
			m.ManagedFields = append(m.ManagedFields, entry("kubectl", "", `{"f:spec":{"f:other":{}}}`, 2))
		}, false, true},
		{"a field is taken", func(m *metav1.ObjectMeta) {
			m.ResourceVersion, m.Generation = "2", 2
			m.ManagedFields[0] = entry("hone", "", `{"f:spec":{"f:paused":{}}}`, 1)
			m.ManagedFields = append(m.ManagedFields, entry("kubectl", "", `{"f:spec":{"f:replicas":{}}}`, 2))
		}, true, true},
		{"a field is removed", func(m *metav1.ObjectMeta) {
			m.ResourceVersion, m.Generation = "2", 2
			m.ManagedFields[0] = entry("hone", "", `{"f:spec":{"f:paused":{}}}`, 1)
		}, true, true},
		{"written again", func(m *metav1.ObjectMeta) {
			m.ResourceVersion, m.ManagedFields[0].Time = "2", at(2)
		}, true, true},
		{"a kind without a status is written", func(m *metav1.ObjectMeta) { m.Generation, m.ResourceVersion = 0, "2" }, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			after := *before.DeepCopy()
			tc.change(&after)
			was, is := metadataEventFrom(&before, "apps", "Deployment", "hone"), metadataEventFrom(&after, "apps", "Deployment", "hone")
			if owned, revision := was.Owned != is.Owned, was.Revision != is.Revision; owned != tc.owned || revision != tc.revision {
				t.Errorf("owned changed: %v, want %v; revision changed: %v, want %v", owned, tc.owned, revision, tc.revision)
			}
		})
	}
}
