// Package ledgertest opens ledgers for tests.
package ledgertest

import (
	"context"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
)

// In returns the ledgers in a folder.
func In(dir string) *ledger.Ledgers {
	return ledger.In(func(context.Context) (storage.Storage, error) { return folder.New(dir), nil }, ledger.Options{Dir: dir})
}

// Open opens a ledger in a folder.
func Open(t testing.TB, dir string, key ledger.Key) *ledger.Ledger {
	t.Helper()
	l, err := In(dir).Open(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
