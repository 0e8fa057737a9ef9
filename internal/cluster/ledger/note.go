package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// NoteKind is a kind of notes about an object.
type NoteKind string

// The kinds of notes. They only explain: a note that is missing, cannot be opened, or is older than the object in the cluster is no error.
const (
	// Applied is the declaration that was applied last.
	Applied NoteKind = "applied"
	// Found is the state of an adopted object before hone took it over.
	Found NoteKind = "found"
	// Accepted are the fields that are left to others.
	Accepted NoteKind = "accepted"
)

var noteKinds = []NoteKind{Applied, Found, Accepted}

// place identifies a note of an object to the vault.
func (k NoteKind) place(id model.ObjectID) string {
	at := strings.Join([]string{"applied", id.Group, id.Kind, id.Namespace, id.Name}, "\x00")
	if k == Applied {
		return at
	}
	return string(k) + "\x00" + at
}

// name returns the name of a note of an object among the ledger's notes.
func (k NoteKind) name(id model.ObjectID) string {
	place, suffix := k.place(id), ""
	if k == Accepted {
		place, suffix = Applied.place(id), ".accepted"
	}
	digest := sha256.Sum256([]byte(place))
	return hex.EncodeToString(digest[:16]) + suffix
}

// notes keep the notes of a ledger. The ledger's mu is not needed.
type notes interface {
	// ready reads the notes, or returns why that fails: get only finds nothing then.
	ready(ctx context.Context) error
	// get returns a note, and the time when it was written; nil if there is none, or it cannot be read.
	get(k NoteKind, id model.ObjectID) ([]byte, time.Time)
	// written returns the time when a note was written; the zero time if there is none.
	written(k NoteKind, id model.ObjectID) time.Time
	// put replaces a note, which was written at a time. A crash of the machine may lose it.
	put(k NoteKind, id model.ObjectID, raw []byte, at time.Time) error
	// drop removes all notes about some objects.
	drop(ctx context.Context, ids map[model.ObjectID]bool) error
	// save stores the notes that are only in memory.
	save(ctx context.Context) error
	// clear removes all notes.
	clear(ctx context.Context) error
	// forgetCached makes the next get read the storage.
	forgetCached()
}

func newNotes(l *Ledger) notes {
	if local, ok := l.storage.(storage.Local); ok {
		return noteFiles{dir: local.Path(l.key.notes()), vault: l.vault}
	}
	return &noteBundle{ledger: l, name: l.key.notes()}
}

// Note returns a note about an object; nil if there is none, or it cannot be read.
func (l *Ledger) Note(k NoteKind, id model.ObjectID) []byte {
	raw, _ := l.notes.get(k, id)
	return raw
}

// Noted returns when a note about an object was written; the zero time if there is none.
func (l *Ledger) Noted(k NoteKind, id model.ObjectID) time.Time { return l.notes.written(k, id) }

// SetNote replaces a note about an object.
func (l *Ledger) SetNote(k NoteKind, id model.ObjectID, raw []byte) error {
	return l.notes.put(k, id, raw, now())
}

// Written notes that an object was written to the cluster, before the note about its declaration changes. It begins a revision if none
// of this operation has begun.
func (l *Ledger) Written(id model.ObjectID) error {
	c, err := l.content()
	if err != nil {
		return err
	}
	if is := c.current(); is == nil || !is.Same(l.origin()) {
		if err := l.change(func(c *content) { c.revised = true }); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if is := l.known.current(); is != nil && is.Number != l.changing {
		clear(l.changed)
		l.changing = is.Number
	}
	if is := l.seen.Load(); is != nil && is.owned()[id].UID != "" {
		l.changed[id] = true
		l.wrote.Store(true)
	}
	return nil
}

// KeepsSecrets reports whether notes may have the values of Secrets: they are encrypted with a key of the user.
func (l *Ledger) KeepsSecrets() bool { return l.vault.shared() }
