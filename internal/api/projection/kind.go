// Package projection creates the objects that the session's API serves by the conventions of Kubernetes. Package
// pkg/api/v1alpha1 defines their types. Each object is a projection of the store's tables, and each write to an object
// becomes an action. The package has no state of its own.
package projection

import (
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hone-dev/hone/internal/loop/store"
)

// Object is an object as the API serves it.
type Object interface {
	metav1.Object
	runtime.Object
}

// Kind is a kind of objects. All objects belong to the session as a whole: there are no namespaces.
type Kind struct {
	// Group and Version are the API group and version: "tilt.dev", "v1alpha1".
	Group, Version string
	// Name is the kind ("UIResource"), and Plural is its name in requests ("uiresources"). ShortNames are accepted instead of
	// Plural on the command line.
	Name, Plural string
	ShortNames   []string
	// Doc describes the kind in a sentence.
	Doc string
	// NameOf returns the name of the object for another name that users may use, such as the reference of an image or the id
	// of a table entry. Nil means that there are no other names.
	NameOf func(word string) string
	// Tables are the tables from which the objects are created: nothing else changes the objects.
	Tables []string
	// Items lists the existing objects, in the order of their names.
	Items func(v store.View) iter.Seq[Item]
	// Columns are the columns of the printed table, after the name.
	Columns []Column
	// New returns an empty object, for its type.
	New func() Object
	// Write returns the actions that change the object old to new: old is nil for a create, new is nil for a delete. An error
	// is a *problem.Problem or an error of k8s.io/apimachinery's package api/errors. A nil Write makes the kind read-only.
	Write func(v store.View, old, new Object) ([]store.Action, error)
}

// ColumnsIn returns the columns that the table of a session has.
func (k Kind) ColumnsIn(v store.View) []Column {
	return slices.DeleteFunc(slices.Clone(k.Columns), func(c Column) bool { return c.Shown != nil && !c.Shown(v) })
}

// Item is one object, which is created on demand.
type Item struct {
	Name string
	// Key differs from the key of an earlier item with the same name if the objects differ.
	Key Key
	Maker
}

// Key identifies one state of an object. It is comparable and cheap.
type Key struct {
	// Of is the source of the object, if it is a single value with an identity, such as an entry.
	Of any
	// made is a digest of the sources if there are several, and secrets identifies the secrets that must be replaced in the
	// object.
	made    digest
	secrets secretsID
}

// Maker makes an object.
type Maker interface {
	// Make returns the object. Its metadata has at least the name; the server adds a missing uid and resourceVersion.
	Make() Object
	// Alone returns a Maker of the same object that may be kept. The items of one list share memory, so keeping a single item
	// would keep all of it alive.
	Alone() Maker
}

// MakeFunc is a Maker that shares nothing.
type MakeFunc func() Object

// Make implements Maker.
func (f MakeFunc) Make() Object { return f() }

// Alone implements Maker.
func (f MakeFunc) Alone() Maker { return f }

// Column is a column of a printed table.
type Column struct {
	Name string
	Doc  string
	// Wide columns are shown only if there is room.
	Wide bool
	// Shown reports whether a session has the column; nil for a column of every session.
	Shown func(v store.View) bool
	// Value returns the cell: a string, a number, a bool or a time.
	Value func(o Object) any
}
