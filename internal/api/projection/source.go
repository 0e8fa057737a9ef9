package projection

import (
	"cmp"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// resourceAnnotation names the resource that an object belongs to.
const resourceAnnotation = "tilt.dev/resource"

// source is a view with the data that every object needs.
type source struct {
	store.View
	tiltfile *store.Entry[state.Tiltfile]
	secrets  secretsID
}

func sourceOf(v store.View) *source {
	s := &source{View: v}
	s.tiltfile = cmp.Or(state.Tiltfiles.In(v).Ref(state.Only), &store.Entry[state.Tiltfile]{})
	s.secrets = identify(s.tiltfile.Value.Result.Secrets)
	return s
}

// digest is a 64-bit hash of the entries and words from which an object is created.
type digest uint64

var seed = maphash.MakeSeed()

// number adds a number.
func (d digest) number(n uint64) digest {
	x := (uint64(d) ^ n) * 0x9e3779b97f4a7c15
	return digest(x ^ x>>29)
}

// word adds a word.
func (d digest) word(s string) digest { return d.number(maphash.String(seed, s)) }

// entry adds an entry. The time of the last change distinguishes entries with the same id and version.
func (d digest) entry(m *store.Meta) digest { return d.word(m.ID).same(m) }

// same adds an entry whose id is always the same.
func (d digest) same(m *store.Meta) digest {
	return d.number(m.Version).number(uint64(m.Updated.UnixNano()))
}

// item returns an item whose object is created on demand. create need not set the kind and the version.
func item[O Object](s *source, kind, name string, made digest, create func() O) Item {
	return Item{Name: name, Key: Key{made: made, secrets: s.secrets}, Maker: MakeFunc(func() Object { return finish(s, kind, name, create()) })}
}

// finish sets the fields that objects of all kinds have.
func finish(s *source, kind, name string, o Object) Object {
	o.SetName(name)
	o.GetObjectKind().SetGroupVersionKind(groupVersion.WithKind(kind))
	scrub(s, o)
	return o
}

// inOrder yields items in the order of their names. If several items have the same name, it yields the first.
func inOrder(items []Item) iter.Seq[Item] {
	byName := func(a, b Item) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(items, byName) {
		slices.SortStableFunc(items, byName)
	}
	return slices.Values(slices.CompactFunc(items, func(a, b Item) bool { return a.Name == b.Name }))
}

// insert inserts an item into a sorted list. If the name already exists, the list does not change.
func insert(items []Item, it Item) []Item {
	i, taken := slices.BinarySearchFunc(items, it.Name, func(i Item, name string) int { return strings.Compare(i.Name, name) })
	if taken {
		return items
	}
	return slices.Insert(items, i, it)
}

// each lists an object per entry of a table.
func each[T any, O Object](s *source, kind string, rows store.Rows[T], create func(e *store.Entry[T]) O) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for e := range rows.Refs() {
			if e.Phase == store.Running && !yield(item(s, kind, e.ID, digest(0).entry(&e.Meta), func() O { return create(e) })) {
				return
			}
		}
	}
}

// metaOf returns the metadata of the object for an entry, or of an object of the entry's resource.
func metaOf(m *store.Meta, annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Labels: maps.Clone(m.Labels), Annotations: maps.Clone(annotations), CreationTimestamp: metav1.NewTime(m.Created)}
}

// metaOfResource returns the metadata of an object that belongs to a resource.
func metaOfResource(e *store.Entry[state.Resource]) metav1.ObjectMeta {
	return metaOf(&e.Meta, map[string]string{resourceAnnotation: e.ID})
}

func micro(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t) }

func microOrNil(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	m := micro(t)
	return &m
}

// safeName returns a valid object name for a text that may contain characters that are not allowed in paths:
// "gcr.io/shop/api" becomes "gcr.io_shop_api".
func safeName(s string) string {
	return inPaths.Replace(s)
}

// inPaths replaces the characters that mean something in an address.
var inPaths = strings.NewReplacer("/", "_", "%", "_", "?", "_", "#", "_")

// disableName returns the name of the config map and of the toggle button of a resource.
func disableName(resource string) string { return resource + "-disable" }

// disabledKey is the key in such a config map that disables the resource.
const disabledKey = "isDisabled"

func disableOfResource(resource string) *v1alpha1.DisableSource {
	return &v1alpha1.DisableSource{ConfigMap: &v1alpha1.ConfigMapDisableSource{Name: disableName(resource), Key: disabledKey}}
}

// disableStatusOf returns whether a resource is disabled.
func disableStatusOf(e *store.Entry[state.Resource]) *v1alpha1.DisableStatus {
	s := disableStatus(!e.Value.Enabled)
	s.State = disableState(e)
	s.LastUpdateTime = metav1.NewTime(e.Created)
	return s
}

func disableStatus(off bool) *v1alpha1.DisableStatus {
	if off {
		return &v1alpha1.DisableStatus{Disabled: true, State: v1alpha1.DisableStateDisabled, Reason: "a config map switches it off"}
	}
	return &v1alpha1.DisableStatus{State: v1alpha1.DisableStateEnabled, Reason: "no config map switches it off"}
}

func disableState(e *store.Entry[state.Resource]) string {
	switch {
	case e.Phase == store.TearingDown:
		return v1alpha1.DisableStatePending
	case e.Value.Enabled:
		return v1alpha1.DisableStateEnabled
	}
	return v1alpha1.DisableStateDisabled
}

func disableSource(d model.DisableSource) *v1alpha1.DisableSource {
	var keys []v1alpha1.ConfigMapDisableSource
	for _, k := range d.Keys {
		keys = append(keys, v1alpha1.ConfigMapDisableSource{Name: k.ConfigMap, Key: k.Key})
	}
	switch len(keys) {
	case 0:
		return nil
	case 1:
		return &v1alpha1.DisableSource{ConfigMap: &keys[0]}
	}
	return &v1alpha1.DisableSource{EveryConfigMap: keys}
}
