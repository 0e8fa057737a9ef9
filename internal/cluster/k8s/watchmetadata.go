package k8s

import (
	"context"
	"encoding/hex"
	"hash"
	"hash/fnv"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hone-dev/hone/pkg/model"
)

// MetadataEvent reports the metadata of an object of any kind: who it is, and whether it was written since.
type MetadataEvent struct {
	ID     model.ObjectID
	UID    string
	Labels map[string]string
	// Owned changes whenever the fields that a field manager owns change, or the manager writes the object; Revision changes on
	// every write to anything but the status. Both are equal only if nothing has happened.
	Owned, Revision string
	// Leaving is set while the object is being deleted.
	Leaving bool
	Deleted bool
	Synced  bool
}

// WatchMetadata is WatchObjects for metadata alone: the rest of an object is not transferred. MetadataEvent.Owned covers the field
// manager named manager, and the managers whose names continue it with a hyphen. Changes of the status alone are not reported.
func (c *Client) WatchMetadata(ctx context.Context, apiVersion, kind, manager string, req WatchRequest, fn func(MetadataEvent)) error {
	mapping, err := c.awaitKind(ctx, apiVersion, kind, req)
	if err != nil {
		return err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		req.Namespaces = nil
	}
	gvk := mapping.GroupVersionKind
	w := &watcher[MetadataEvent]{
		req:     req,
		trouble: c.newTrouble(req, mapping.Resource.Group, mapping.Resource.Resource),
		convert: from(func(o *metav1.PartialObjectMetadata) MetadataEvent {
			return metadataEventFrom(&o.ObjectMeta, gvk.Group, gvk.Kind, manager)
		}),
		same:    func(a, b MetadataEvent) bool { return reflect.DeepEqual(a, b) },
		deleted: func(old MetadataEvent) MetadataEvent { old.Deleted = true; return old },
		synced:  func() MetadataEvent { return MetadataEvent{Synced: true} },
	}
	return w.run(ctx, func(ns string) *cache.ListWatch {
		return listWatch(c.metadata.Resource(mapping.Resource).Namespace(ns))
	}, fn)
}

// metadataEventFrom computes the event of an object. The result shares no memory with m.
func metadataEventFrom(m *metav1.ObjectMeta, group, kind, manager string) MetadataEvent {
	e := MetadataEvent{
		ID:  model.ObjectID{Group: group, Kind: kind, Namespace: m.Namespace, Name: m.Name},
		UID: string(m.UID), Labels: maps.Clone(m.Labels), Leaving: m.DeletionTimestamp != nil,
	}
	own, all := fnv.New128a(), fnv.New128a()
	for _, f := range m.ManagedFields {
		if f.Subresource != "" {
			continue
		}
		sum(all, f)
		if f.Manager == manager || strings.HasPrefix(f.Manager, manager+"-") {
			sum(own, f)
		}
	}
	e.Owned = hex.EncodeToString(own.Sum(nil))
	// Kinds with a status are counted without the writes to their status. The other kinds have no writes that do not matter.
	e.Revision = m.ResourceVersion
	if m.Generation > 0 {
		e.Revision = strconv.FormatInt(m.Generation, 10) + "-" + hex.EncodeToString(all.Sum(nil))
	}
	return e
}

func sum(h hash.Hash, f metav1.ManagedFieldsEntry) { // writing to a hash never fails
	_, _ = h.Write([]byte(f.Manager + "\x00" + string(f.Operation) + "\x00"))
	if f.Time != nil {
		_, _ = h.Write([]byte(f.Time.UTC().String()))
	}
	if f.FieldsV1 != nil {
		_, _ = h.Write(f.FieldsV1.GetRawBytes())
	}
	_, _ = h.Write([]byte{0})
}
