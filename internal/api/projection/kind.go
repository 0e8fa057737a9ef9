// Package projection holds the kinds of objects that the session's API serves by Kubernetes' conventions: what they look like is
// in pkg/api/v1alpha1, here is how they come about. Each is a projection of the store's tables; what is written to an
// object becomes an action. There is no state beside the store's.
package projection

import (
	"iter"

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
	// Group and Version are those of Kubernetes' conventions: "tilt.dev", "v1alpha1".
	Group, Version string
	// Name is the kind ("UIResource"), Plural how requests name it ("uiresources"); ShortNames may stand for that on the
	// command line.
	Name, Plural string
	ShortNames   []string
	// Doc is a sentence for people.
	Doc string
	// NameOf returns the name of the object of what people name otherwise, such as an image by its reference or an entry of a
	// table by its id. Nil where there is nothing of that kind.
	NameOf func(word string) string
	// Tables are what the objects are made of: nothing else changes them.
	Tables []string
	// Items lists the objects that there are, in the order of their names.
	Items func(v store.View) iter.Seq[Item]
	// Columns are what a table for people shows, after the name.
	Columns []Column
	// New returns an empty object, for its type.
	New func() Object
	// Write returns the actions that make an object become what was asked for: old is nil for one that is to be created,
	// new for one that is to be deleted. An error of type *problem.Problem or of k8s.io/apimachinery's api/errors says why that cannot
	// be. Nil makes the kind read-only.
	Write func(v store.View, old, new Object) ([]store.Action, error)
}

// Item is one object that need not be made yet.
type Item struct {
	Name string
	// Key differs from an earlier one of the same name whenever the object would.
	Key Key
	Maker
}

// Key tells states of an object apart. It is comparable, and costs little.
type Key struct {
	// Of is what the object is made of, where that is one thing with an identity, such as an entry.
	Of any
	// made sums up what it is made of where that is more, and secrets say what must not be seen in it.
	made    digest
	secrets secretsID
}

// Maker makes an object.
type Maker interface {
	// Make returns the object. Its metadata has at least the name; whoever serves it fills in uid and resourceVersion
	// where they are missing.
	Make() Object
	// Alone returns a Maker of the same object that may be kept: items of one list share memory, which one of them keeps
	// alive as a whole.
	Alone() Maker
}

// MakeFunc is a Maker that shares nothing.
type MakeFunc func() Object

// Make implements Maker.
func (f MakeFunc) Make() Object { return f() }

// Alone implements Maker.
func (f MakeFunc) Alone() Maker { return f }

// Column is a column of a table for people.
type Column struct {
	Name string
	Doc  string
	// Wide columns are shown only where there is room.
	Wide bool
	// Value returns the cell: a string, a number, a bool or a time.
	Value func(o Object) any
}
