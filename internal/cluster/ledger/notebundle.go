package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// noteBundle keeps all notes of a ledger in one document, because a request for each would take too long. New notes wait in memory for
// the next save, which several updates share.
type noteBundle struct {
	ledger *Ledger
	name   string

	mu      sync.Mutex
	read    bool             // guarded by mu
	version storage.Version  // guarded by mu
	all     map[string]note  // guarded by mu; the document, with the changes
	changed map[string]*note // guarded by mu; what the document lacks; nil for a note that has to go
}

type note struct {
	At   time.Time `json:"at"`
	Text []byte    `json:"text"`
}

func (n *noteBundle) ready(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.load(ctx)
}

func (n *noteBundle) get(k NoteKind, id model.ObjectID) ([]byte, time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx, cancel := patience()
	defer cancel()
	if n.load(ctx) != nil {
		return nil, time.Time{}
	}
	is := n.all[k.name(id)]
	return bytes.Clone(is.Text), is.At
}

func (n *noteBundle) written(k NoteKind, id model.ObjectID) time.Time {
	_, at := n.get(k, id)
	return at
}

func (n *noteBundle) put(k NoteKind, id model.ObjectID, raw []byte, at time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx, cancel := patience()
	defer cancel()
	if err := n.load(ctx); err != nil {
		return err
	}
	is := note{At: at, Text: bytes.Clone(raw)}
	n.all[k.name(id)], n.changed[k.name(id)] = is, &is
	return nil
}

func (n *noteBundle) drop(_ context.Context, ids map[model.ObjectID]bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range ids {
		for _, k := range noteKinds {
			if n.changed == nil {
				n.changed = map[string]*note{}
			}
			delete(n.all, k.name(id))
			n.changed[k.name(id)] = nil
		}
	}
	return nil
}

func (n *noteBundle) clear(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.read, n.changed = false, nil
	return remove(ctx, n.ledger.storage, n.name)
}

func (n *noteBundle) save(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.store(ctx)
}

func (n *noteBundle) forgetCached() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.read = false
}

// load reads the document, if it is not known, and adds the changes. mu is held.
func (n *noteBundle) load(ctx context.Context) error {
	if n.read {
		return nil
	}
	all, version := map[string]note{}, storage.None
	doc, err := n.ledger.storage.Load(ctx, n.name)
	switch {
	case errors.Is(err, storage.ErrMissing):
	case err != nil:
		return fmt.Errorf("read what was applied: %w", err)
	default:
		raw, _, err := n.ledger.vault.unpack(doc.Data, n.name, "the record of the applied objects")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &all); err != nil {
			all = map[string]note{} // it only explains
		}
		version = doc.Version
	}
	if n.changed == nil {
		n.changed = map[string]*note{}
	}
	for name, is := range n.changed {
		if is == nil {
			delete(all, name)
		} else {
			all[name] = *is
		}
	}
	n.read, n.all, n.version = true, all, version
	return nil
}

// store writes the changes. mu is held.
func (n *noteBundle) store(ctx context.Context) error {
	for len(n.changed) > 0 {
		if err := n.load(ctx); err != nil {
			return err
		}
		if len(n.all) == 0 {
			if err := remove(ctx, n.ledger.storage, n.name); err != nil {
				return err
			}
			n.version = storage.None
			clear(n.changed)
			return nil
		}
		raw, err := json.Marshal(n.all)
		if err != nil {
			return err
		}
		doc, err := n.ledger.pack(raw, n.name, compressFrom)
		if err != nil {
			return err
		}
		version, err := n.ledger.storage.Save(ctx, n.name, doc, n.version)
		if errors.Is(err, storage.ErrStale) {
			n.read = false
			continue
		}
		if err != nil {
			n.read = false // it may have been written
			return fmt.Errorf("store what was applied: %w", err)
		}
		n.version = version
		clear(n.changed)
	}
	return nil
}
