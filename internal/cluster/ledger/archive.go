package ledger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// archive is everything that a ledger keeps, apart from leases.
type archive struct {
	content content
	// declared are the objects of the revisions before the newest one, as JSON of Objects.
	declared map[int]json.RawMessage
	notes    []archivedNote

	version storage.Version // of the head
}

// archivedNote is a note about an object.
type archivedNote struct {
	Kind NoteKind       `json:"kind"`
	ID   model.ObjectID `json:"object"`
	At   time.Time      `json:"at"`
	Text []byte         `json:"text"`
}

func (n archivedNote) equal(o archivedNote) bool {
	return compareNotes(n, o) == 0 && n.At.Equal(o.At) && bytes.Equal(n.Text, o.Text)
}

// compareNotes orders notes.
func compareNotes(x, y archivedNote) int {
	return cmp.Or(x.ID.Compare(y.ID), cmp.Compare(x.Kind, y.Kind))
}

// equal reports whether two archives say the same.
func (a archive) equal(b archive) bool {
	same := func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }
	return a.content.equal(b.content) && maps.EqualFunc(a.declared, b.declared, same) && slices.EqualFunc(a.notes, b.notes, archivedNote.equal)
}

// archiveAttempts bounds how often an archive is read again because another process writes to the ledger.
const archiveAttempts = 5

var errBusy = errors.New("another process changes it all the time")

// archive reads everything. It belongs to one version of the head, which is None if there is no ledger.
func (l *Ledger) archive(ctx context.Context) (archive, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range archiveAttempts {
		l.notes.forgetCached()
		if err := l.load(ctx); err != nil {
			return archive{}, err
		}
		a := archive{content: l.known, version: l.version, declared: map[int]json.RawMessage{}}
		err := l.readRest(ctx, &a)
		if err == nil {
			err = l.load(ctx)
		}
		if err != nil {
			return archive{}, err
		}
		if l.version == a.version {
			return a, nil
		}
	}
	return archive{}, fmt.Errorf("read %s: %w", l.title(), errBusy)
}

// readRest reads the documents beside the head. l.mu is held.
func (l *Ledger) readRest(ctx context.Context, a *archive) error {
	for _, r := range a.content.revisions {
		name := l.key.revision(r.Number)
		doc, err := l.storage.Load(ctx, name)
		if errors.Is(err, storage.ErrMissing) { // the newest one has none
			continue
		}
		if err == nil {
			a.declared[r.Number], _, err = l.vault.unpack(doc.Data, name, fmt.Sprintf("revision %d of this project", r.Number))
		}
		if err != nil {
			return fmt.Errorf("read revision %d: %w", r.Number, err)
		}
	}
	if err := l.notes.ready(ctx); err != nil {
		return err
	}
	for id := range a.content.gone(emptyContent()) { // all
		for _, k := range noteKinds {
			if raw, at := l.notes.get(k, id); raw != nil {
				a.notes = append(a.notes, archivedNote{Kind: k, ID: id, At: at.UTC().Truncate(time.Millisecond), Text: raw})
			}
		}
	}
	slices.SortFunc(a.notes, compareNotes)
	return nil
}

// fill makes an archive the content of a ledger that does not exist yet. The head comes last: without it, there is no ledger. If another
// process makes the ledger meanwhile, fill returns errTaken.
func (l *Ledger) fill(ctx context.Context, a archive) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(ctx); err != nil {
		return err
	}
	if l.version != storage.None {
		return errTaken
	}
	if err := l.fit(ctx); err != nil {
		return err
	}
	for number, raw := range a.declared {
		name := l.key.revision(number)
		doc, err := l.packAlways(raw, name)
		if err == nil {
			err = replace(ctx, l.storage, name, doc)
		}
		if err != nil {
			return fmt.Errorf("store revision %d: %w", number, err)
		}
	}
	for _, n := range a.notes {
		if err := l.notes.put(n.Kind, n.ID, n.Text, n.At); err != nil {
			return fmt.Errorf("store what was applied: %w", err)
		}
	}
	if err := l.notes.save(ctx); err != nil {
		return err
	}
	written, err := l.write(ctx, a.content)
	switch {
	case err != nil:
		return fmt.Errorf("write %s: %w", l.title(), err)
	case !written:
		return errTaken
	}
	return l.nameMembers(ctx, emptyContent(), a.content)
}

var errTaken = errors.New("there is a ledger already")

// sweep removes the documents beside the head.
func (l *Ledger) sweep(ctx context.Context) error {
	var names []string
	err := insist(ctx, l.storage, func() (err error) {
		names, err = l.storage.List(ctx, l.key.revisions())
		return err
	})
	for _, name := range names {
		if err == nil {
			err = remove(ctx, l.storage, name)
		}
	}
	if err == nil {
		err = insist(ctx, l.storage, func() error { return l.notes.clear(ctx) })
	}
	return err
}

// withdraw removes the head, if it still has the given version, and then everything else. Without the head, there is no ledger. l.mu is not
// held.
func (l *Ledger) withdraw(ctx context.Context, was storage.Version) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, local := l.storage.(storage.Local)
	for pause := newPause(); ; {
		err := l.storage.Delete(ctx, l.key.head(), was)
		if err == nil {
			break
		}
		if errors.Is(err, storage.ErrStale) || local || !pause.Sleep(ctx) {
			return err
		}
	}
	l.know(emptyContent(), storage.None)
	l.members = ""
	return l.sweep(ctx)
}
