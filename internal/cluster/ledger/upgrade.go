package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// sealedMark is the file that marks a folder without ledgers that have commands in clear text.
const sealedMark = ".sealed-commands"

// upgradeAll rewrites the ledgers of a folder in which an earlier version of hone stored commands in clear text. It includes
// the ledgers of other projects, which may never be opened again. Ledgers that cannot be read stay unchanged.
func (l *Ledger) upgradeAll() error {
	local, ok := l.storage.(storage.Local)
	if !ok {
		return nil
	}
	mark := filepath.Join(filepath.Dir(local.Path(l.key.head())), sealedMark)
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	ctx, cancel := patience()
	defer cancel()
	names, err := local.List(ctx, "")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, headSuffix) {
			continue
		}
		doc, err := local.Load(ctx, name)
		var f stored
		if err != nil || json.Unmarshal(doc.Data, &f) != nil || !slices.ContainsFunc(slices.Collect(maps.Values(f.Commands)), storedCommand.clear) {
			continue
		}
		other := &Ledger{storage: l.storage, key: Key{Cluster: f.Cluster, Project: f.Project}, vault: l.vault, origin: l.origin}
		other.notes = newNotes(other)
		if err := other.change(func(*content) {}); err != nil {
			return fmt.Errorf("encrypt the commands in %s: %w", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return fmt.Errorf("create the ledger's folder: %w", err)
	}
	return os.WriteFile(mark, nil, 0o600)
}
