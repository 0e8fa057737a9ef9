package rest

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/store"
)

// objects creates the objects of one kind from the items of one snapshot.
type objects struct {
	*kind
	session string
}

func (h *Handler) objects(k *kind, v store.View) objects { return objects{k, h.store.Session(v)} }

// make returns an item's object, with the metadata that the kind leaves to the server.
func (o objects) make(it *item) projection.Object {
	return o.fill(it.Make(), it.Name, it.version)
}

func (o objects) fill(out projection.Object, name string, version uint64) projection.Object {
	out.GetObjectKind().SetGroupVersionKind(o.gvk())
	if out.GetName() == "" {
		out.SetName(name)
	}
	if out.GetUID() == "" {
		out.SetUID(o.uid(name, out.GetCreationTimestamp()))
	}
	out.SetResourceVersion(strconv.FormatUint(version, 10))
	return out
}

// uid returns an id that is stable while the object exists. An object that was deleted and created again has a different id,
// provided that it has a creation time.
func (o objects) uid(name string, created metav1.Time) types.UID {
	id := fmt.Sprintf("%s/%s/%s/%s/%d", o.session, o.Group, o.Plural, name, created.UnixNano())
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(id)).String())
}

// encode encodes an object in the requested form, except tables.
func (o objects) encode(obj projection.Object, f format) ([]byte, error) {
	if f.as == "PartialObjectMetadata" || f.as == "PartialObjectMetadataList" {
		return json.Marshal(partial(obj))
	}
	return json.Marshal(obj)
}

// partial returns only the metadata of an object.
func partial(obj projection.Object) *metav1.PartialObjectMetadata {
	p := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}}
	p.ObjectMeta = metav1.ObjectMeta{Name: obj.GetName(), UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
		CreationTimestamp: obj.GetCreationTimestamp(), DeletionTimestamp: obj.GetDeletionTimestamp(), Labels: obj.GetLabels(),
		Annotations: obj.GetAnnotations(), Finalizers: obj.GetFinalizers(), OwnerReferences: obj.GetOwnerReferences(),
		Generation: obj.GetGeneration()}
	return p
}

// formatVersion formats the number of a snapshot as a resource version.
func formatVersion(seq uint64) string { return strconv.FormatUint(seq, 10) }
