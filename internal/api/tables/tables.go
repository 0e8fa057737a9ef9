// Package tables provides the kinds of the API group hone.dev, which show the internal state of a session: each table of the
// store with its metadata, and the status of the loop and the subscribers. They are read-only.
package tables

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Group and Version are the API group and version of the kinds.
const (
	Group   = api.TablesGroup
	Version = "v1alpha1"
)

// Row is an entry of a table as an object.
type Row struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// ID is the entry's id in its table.
	ID string `json:"id"`
	// Phase is running, or tearing-down for an entry that waits for its finalizers to be removed.
	Phase store.Phase `json:"phase,omitempty"`
	// Version counts the changes of the entry, from 1.
	Version uint64 `json:"version,omitempty"`
	// Owner is the component of hone whose action created the entry.
	Owner string `json:"owner,omitempty"`
	// Updated is the time of the entry's last change.
	Updated metav1.Time `json:"updated,omitzero"`
	// Entry is the value.
	Entry any `json:"entry"`
	// value is the entry's value as stored, for the columns. status is the status of the updates of the entry's resource, and cluster the name
	// of its cluster.
	value           any
	status, cluster string
}

// DeepCopyObject implements runtime.Object. Entries are never changed, so copies share them.
func (r *Row) DeepCopyObject() runtime.Object {
	c := *r
	c.ObjectMeta = *r.ObjectMeta.DeepCopy()
	return &c
}

var _ projection.Object = (*Row)(nil)

// All returns a kind for each table of a schema, in their order.
func All(schema *store.Schema) []projection.Kind {
	var out []projection.Kind
	for _, t := range schema.Tables() {
		out = append(out, table(t))
	}
	return out
}

func table(t store.TableInfo) projection.Kind {
	return projection.Kind{
		Group: Group, Version: Version, Name: kindName(t.Value), Plural: t.Name, Doc: t.Doc, Tables: []string{t.Name}, NameOf: Name,
		Items: func(v store.View) iter.Seq[projection.Item] {
			return func(yield func(projection.Item) bool) {
				for row := range v.Rows(t.Name) {
					if !yield(projection.Item{Name: Name(row.Metadata().ID), Key: projection.Key{Of: row}, Maker: projection.MakeFunc(func() projection.Object { return object(v, row) })}) {
						return
					}
				}
			}
		},
		Columns: columns(t),
		New:     func() projection.Object { return &Row{Entry: reflect.Zero(t.Value).Interface()} },
	}
}

// kindName names the kind of a table after the type of its values.
func kindName(t reflect.Type) string {
	name := t.Name()
	return strings.ToUpper(name[:1]) + name[1:]
}

func object(v store.View, row store.Row) *Row {
	m := row.Metadata()
	r := &Row{ID: m.ID, Phase: m.Phase, Version: m.Version, Owner: m.Owner, Updated: metav1.NewTime(m.Updated), Entry: Value(row.Any()), value: row.Any()}
	r.Name, r.Labels, r.Finalizers = Name(m.ID), maps.Clone(m.Labels), slices.Clone(m.Finalizers)
	r.CreationTimestamp = metav1.NewTime(m.Created)
	switch x := r.value.(type) {
	case state.Update:
		manifest := state.Resources.In(v).Value(m.ID).Manifest
		r.status = string(status.UpdateOf(v, &manifest, &x))
	case state.Resource:
		if x.Manifest.IsK8s() {
			r.cluster = state.ClusterTitle(v, x.Manifest.Cluster())
		}
	}
	return r
}

// Name returns the name of an entry's object: "web:80" for the id "web/80".
func Name(id string) string { return api.ObjectName(id) }
