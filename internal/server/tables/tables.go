// Package tables makes kinds of the API's group hone.dev out of everything that a session knows of itself: each table of
// the store as it is, with its metadata, and how the loop and the subscribers do. They are for looking only.
package tables

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hone-dev/hone/internal/kinds"
	"github.com/hone-dev/hone/internal/server/schema"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Group and Version are those of the kinds.
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
	// Phase is running, or tearing-down for an entry that waits for its finalizers to let go.
	Phase store.Phase `json:"phase,omitempty"`
	// Version counts the changes of the entry, from 1.
	Version uint64 `json:"version,omitempty"`
	// Owner names the part of hone whose action created the entry.
	Owner string `json:"owner,omitempty"`
	// Updated is when the entry last changed.
	Updated metav1.Time `json:"updated,omitzero"`
	// Entry is the value.
	Entry any `json:"entry"`
}

// DeepCopyObject implements runtime.Object. Entries are never changed, so that copies share theirs.
func (r *Row) DeepCopyObject() runtime.Object {
	c := *r
	c.ObjectMeta = *r.ObjectMeta.DeepCopy()
	return &c
}

var _ kinds.Object = (*Row)(nil)

// All returns a kind for each table of a schema, in their order.
func All(schema *store.Schema) []kinds.Kind {
	var out []kinds.Kind
	for _, t := range schema.Tables() {
		out = append(out, table(t))
	}
	return out
}

func table(t store.TableInfo) kinds.Kind {
	return kinds.Kind{
		Group: Group, Version: Version, Name: kindName(t.Value), Plural: t.Name, Doc: t.Doc, Tables: []string{t.Name},
		Items: func(v store.View) iter.Seq[kinds.Item] {
			return func(yield func(kinds.Item) bool) {
				for row := range v.Rows(t.Name) {
					if !yield(kinds.Item{Name: Name(row.Metadata().ID), Key: kinds.Key{Of: row}, Maker: kinds.MakeFunc(func() kinds.Object { return object(row) })}) {
						return
					}
				}
			}
		},
		Columns: columns(t.Value),
		New:     func() kinds.Object { return &Row{Entry: reflect.Zero(t.Value).Interface()} },
	}
}

// kindName names the kind of a table after the type of its values.
func kindName(t reflect.Type) string {
	name := t.Name()
	return strings.ToUpper(name[:1]) + name[1:]
}

func object(row store.Row) *Row {
	m := row.Metadata()
	r := &Row{ID: m.ID, Phase: m.Phase, Version: m.Version, Owner: m.Owner, Updated: metav1.NewTime(m.Updated), Entry: Value(row.Any())}
	r.Name, r.Labels, r.Finalizers = Name(m.ID), maps.Clone(m.Labels), slices.Clone(m.Finalizers)
	r.CreationTimestamp = metav1.NewTime(m.Created)
	return r
}

// Name returns the name of an entry's object: "web:80" for the id "web/80".
func Name(id string) string { return api.ObjectName(id) }

// telling are fields that say much about an entry, where it has them.
var telling = []string{"Type", "Resource", "Pod", "Way", "State", "Status", "Phase", "Health", "Ready", "Connected", "Current", "Enabled", "Crashes", "URL", "Err", "Problem"}

func columns(t reflect.Type) []kinds.Column {
	out := []kinds.Column{}
	for _, name := range telling {
		f, ok := t.FieldByName(name)
		if !ok || !shown(f.Type) {
			continue
		}
		title := map[string]string{"Err": "Error"}[name]
		if title == "" {
			title = name
		}
		fields := fieldsOf(t)
		i := slices.IndexFunc(fields, func(x schema.Field) bool { return x.GoName == name })
		if i < 0 {
			continue
		}
		in := fields[i].Name
		out = append(out, kinds.Column{Name: title, Doc: title, Value: func(o kinds.Object) any {
			entry, _ := o.(*Row).Entry.(map[string]any)
			if v, ok := entry[in]; ok {
				return v
			}
			return ""
		}})
	}
	return append(out,
		kinds.Column{Name: "Version", Doc: "How often the entry has changed.", Value: func(o kinds.Object) any { return int64(o.(*Row).Version) }},
		kinds.Column{Name: "Age", Doc: "The time since the entry was created.", Value: func(o kinds.Object) any { return o.(*Row).CreationTimestamp.Time }},
		kinds.Column{Name: "Updated", Doc: "The time since the entry last changed.", Value: func(o kinds.Object) any { return o.(*Row).Updated.Time }},
		kinds.Column{Name: "Owner", Doc: "The part of hone that created the entry.", Wide: true, Value: func(o kinds.Object) any { return o.(*Row).Owner }},
		kinds.Column{Name: "Finalizers", Doc: "The parts of hone that hold the entry.", Wide: true, Value: func(o kinds.Object) any { return strings.Join(o.(*Row).Finalizers, ",") }},
	)
}

// shown reports whether a field of a type fits into a cell.
func shown(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Bool || t.Kind() == reflect.Int || t == reflect.TypeFor[time.Duration]()
}
