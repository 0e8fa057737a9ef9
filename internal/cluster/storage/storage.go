// Package storage keeps named documents where several machines can share them: in a folder, a cluster, an object store, an HTTP server or
// a database. Its subpackages are the back ends; package storages opens one by its URL.
package storage

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Storage keeps documents by name. A write names the version that it replaces and fails if the document has another one by then
// (compare-and-set), so that two writers never lose each other's changes. Readers see a document whole, before or after a write.
// Its methods are safe for concurrent use by several goroutines and processes.
type Storage interface {
	// Load returns the newest version of a document, or ErrMissing.
	Load(ctx context.Context, name string) (Document, error)
	// Save replaces one version of a document, and returns the new version. With the version None, it creates a document that must not
	// exist. If the document has another version, it returns ErrStale and has written nothing. After any other error, the data may or
	// may not have been written, since an answer can be lost: the caller loads the document to find out.
	Save(ctx context.Context, name string, data []byte, was Version) (Version, error)
	// Delete removes one version of a document; ErrStale if the document has another one. It is no error if there is none.
	Delete(ctx context.Context, name string, was Version) error
	// List returns the names of the documents that begin with prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	// String returns the URL of the storage, without credentials.
	String() string
	// Close releases connections.
	Close() error
}

// Local is a storage in a folder of this machine.
type Local interface {
	Storage
	// Path returns the file of a document. Derived files may lie beside it.
	Path(name string) string
	// Unchanged reports, without reading the document, that it still has a version that Load or Save of this handle has returned. It
	// may return false for no reason. Every write makes a new file, so its identity, size and time of change suffice.
	Unchanged(name string, was Version) bool
	// SaveBrief is Save for a document that need not survive a crash of the machine. It does not wait for the disk.
	SaveBrief(ctx context.Context, name string, data []byte, was Version) (Version, error)
}

// ApplySets is a storage whose documents can be the parents of ApplySets (KEP-3659), so that other tools see which objects belong
// together and leave them alone.
type ApplySets interface {
	Storage
	// ApplySet returns the ID of the ApplySet with a document as its parent. Its members have it as the value of the label PartOf.
	ApplySet(name string) string
	// SetMembers makes a document the parent of an ApplySet, and records the kinds ("Deployment.apps", "ConfigMap") and the namespaces
	// of its members. Before members are applied, it has to be called with the old and the new ones. The document keeps its version.
	SetMembers(ctx context.Context, name string, groupKinds, namespaces []string) error
}

// PartOf is the label of the members of an ApplySet.
const PartOf = "applyset.kubernetes.io/part-of"

// Document is one version of a document.
type Document struct {
	Data    []byte
	Version Version
}

// Version identifies one version of a document within its storage. A version never comes back with other data, even if the document was
// deleted and created again meanwhile.
type Version string

// None is the version of a document that does not exist.
const None Version = ""

var (
	// ErrMissing says that there is no document of a name.
	ErrMissing = errors.New("there is no such document")
	// ErrStale says that a document does not have the version that a write replaces.
	ErrStale = errors.New("another writer has changed the document")
)

// Patience bounds the wait for a storage, and for another writer in a folder. A write takes milliseconds to seconds: a process that holds
// a lock for longer is suspended, or its disk is stuck.
const Patience = 30 * time.Second

// names are the names that every back end can keep: parts of letters, digits, ".", "_" and "-", divided by "/".
var names = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

// maxName is the largest length of a name, in bytes: file systems limit a name to 255 bytes, and back ends add to it.
const maxName = 200

// CheckName returns an error for a name that no back end accepts. Every back end calls it first.
func CheckName(name string) error {
	if len(name) > maxName || !names.MatchString(name) {
		return fmt.Errorf("invalid name of a document: %q", name)
	}
	return nil
}
