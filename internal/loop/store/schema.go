package store

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Schema is a set of tables and of the reducers on them. It is built once, by Define and On, before a Store uses it;
// after that it is only read.
type Schema struct {
	tables   []*definition
	reducers map[ActionType][]reducer
	accepts  map[ActionType][]string
	follows  []following
	// derived counts the derived values.
	derived int
}

type reducer struct {
	table  int
	reduce func(d *draft, a Action)
}

// NewSchema returns a schema without tables.
func NewSchema() *Schema {
	return &Schema{reducers: map[ActionType][]reducer{}, accepts: map[ActionType][]string{}}
}

// TableOption changes how a table behaves.
type TableOption func(*tableOptions)

type tableOptions struct{ finalizers bool }

// WithFinalizers lets subscribers hold on to entries of the table that are being torn down.
func WithFinalizers() TableOption { return func(o *tableOptions) { o.finalizers = true } }

// Define adds a table to the schema. The name must be new; doc is one sentence that people read.
func Define[T any](s *Schema, name, doc string, options ...TableOption) *Table[T] {
	if slices.ContainsFunc(s.tables, func(d *definition) bool { return d.name == name }) {
		panic(fmt.Sprintf("store: table %q defined twice", name)) // while packages are initialized: no program with this error starts
	}
	var o tableOptions
	for _, option := range options {
		option(&o)
	}
	of := &definition{index: len(s.tables), name: name, doc: doc, finalizers: o.finalizers, schema: s, value: reflect.TypeFor[T](),
		view: func(d *draft) any { return &Draft[T]{d} },
		row: func(m Meta, value any) (Row, bool) {
			v, ok := value.(T)
			return &Entry[T]{m, v}, ok
		}}
	s.tables = append(s.tables, of)
	return &Table[T]{of}
}

// On lets the table accept actions of type A, reduced by reduce. Several tables may accept the same action; each reducer
// sees its own table only.
func On[T, A any](t *Table[T], reduce func(d *Draft[T], a A)) {
	kind := ActionType{reflect.TypeFor[A]()}
	s := t.of.schema
	s.reducers[kind] = append(s.reducers[kind], reducer{t.of.index, func(d *draft, a Action) { reduce(d.view.(*Draft[T]), a.(A)) }})
	s.accepts[kind] = append(s.accepts[kind], t.Name())
}

// OnDestroy sets a function that runs after an entry of the table was destroyed because its last finalizer was released.
// The function is part of the reducer and must be pure.
func OnDestroy[T any](t *Table[T], f func(d *Draft[T], gone Entry[T])) {
	t.of.onDestroy = func(d *draft, gone Row) { f(d.view.(*Draft[T]), *gone.(*Entry[T])) }
}

// TableInfo describes a table of a schema.
type TableInfo struct {
	Name string
	// Doc is a sentence for people.
	Doc string
	// Value is the type of the entries' values.
	Value reflect.Type
}

// Tables returns all tables in the order of their definition.
func (s *Schema) Tables() []TableInfo {
	out := make([]TableInfo, len(s.tables))
	for i, t := range s.tables {
		out[i] = TableInfo{t.name, t.doc, t.value}
	}
	return out
}

// ReadsAll declares every table of a schema as a weak input.
func ReadsAll(s *Schema) []Input {
	in := make([]Input, len(s.tables))
	for i, t := range s.tables {
		in[i] = Input{Table: t.name}
	}
	return in
}

// Actions returns the actions that any table accepts, sorted by name.
func (s *Schema) Actions() []ActionType {
	return slices.SortedFunc(maps.Keys(s.accepts), func(a, b ActionType) int { return cmp.Compare(a.String(), b.String()) })
}

func (s *Schema) table(name string) (*definition, int) {
	for i, t := range s.tables {
		if t.name == name {
			return t, i
		}
	}
	return nil, -1
}
