package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// noteFiles keep each note in a file of a folder, compressed if it is large, and encrypted. They need no fsync, and no other process waits
// for them.
type noteFiles struct {
	dir   string
	vault vault
}

func (n noteFiles) path(k NoteKind, id model.ObjectID) string {
	return filepath.Join(n.dir, k.name(id))
}

func (n noteFiles) get(k NoteKind, id model.ObjectID) ([]byte, time.Time) {
	sealed, err := os.ReadFile(n.path(k, id))
	if err != nil {
		return nil, time.Time{}
	}
	raw, err := n.vault.open(sealed, k.place(id))
	if err == nil {
		raw, _, err = n.vault.unpack(raw, k.place(id), "a note")
	}
	if err != nil {
		return nil, time.Time{}
	}
	return raw, n.written(k, id)
}

func (n noteFiles) written(k NoteKind, id model.ObjectID) time.Time {
	info, err := os.Stat(n.path(k, id))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (n noteFiles) put(k NoteKind, id model.ObjectID, raw []byte, at time.Time) error {
	small, err := pack(raw, nil, k.place(id), compressFrom)
	if err != nil {
		return err
	}
	sealed, err := n.vault.seal(small, k.place(id))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	path := n.path(k, id)
	temp := path + ".new" // always the same: at most one is left behind, and the next one replaces it
	if err := os.WriteFile(temp, sealed, 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(temp, at, at); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func (n noteFiles) drop(_ context.Context, ids map[model.ObjectID]bool) error {
	for id := range ids {
		for _, k := range noteKinds {
			if err := ignoreMissing(os.Remove(n.path(k, id))); err != nil {
				return fmt.Errorf("forget what was applied: %w", err)
			}
		}
	}
	if len(ids) > 0 {
		_ = os.Remove(n.dir) // unless something else is in it
	}
	return nil
}

func (n noteFiles) clear(context.Context) error { return os.RemoveAll(n.dir) }

func (noteFiles) ready(context.Context) error { return nil }

func (noteFiles) save(context.Context) error { return nil }

func (noteFiles) forgetCached() {}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
