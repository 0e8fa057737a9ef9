package deploy

import (
	"testing"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
	"github.com/hone-dev/hone/pkg/model"
)

// openLedger opens the memory of a project in a folder.
func openLedger(t testing.TB, dir string) *Memory {
	t.Helper()
	m, err := openMemory(dir, ledger.Key{Cluster: "11111111-2222", Project: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openMemory(dir string, key ledger.Key) (*Memory, error) {
	l, err := ledger.Open(folder.New(dir), key, ledger.Options{Dir: dir})
	return &Memory{l}, err
}

func contents(t testing.TB, m *Memory) map[model.ManifestName][]ledger.Record {
	t.Helper()
	all, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
