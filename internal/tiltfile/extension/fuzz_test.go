package extension

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzPin reads any text as a pin: the commit becomes a folder's name, so it must be a valid commit.
func FuzzPin(f *testing.F) {
	f.Add([]byte(`{"url":"https://x","commit":"0123456789012345678901234567890123456789","fetched":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"commit":"../../etc"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), pinName)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := readPin(path)
		if err == nil && (filepath.Base(p.Commit) != p.Commit || p.Commit == "." || p.Commit == ".." || len(p.Commit) < 40) {
			t.Errorf("commit %q", p.Commit)
		}
	})
}
