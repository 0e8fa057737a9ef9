package ledger

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// everything returns all that a machine has stored: the documents of the storage, and the files beside it.
func everything(t *testing.T, m *machine, s storage.Storage) (all string) {
	t.Helper()
	names, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		doc, err := s.Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all += string(doc.Data)
	}
	err = filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreMissing(err)
		}
		raw, err := os.ReadFile(path)
		all += string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLargeManifest keeps a declaration of 1 MB, first without a key of the user, then with one (C14). It is compressed. With the key,
// nothing that was stored before is lost, and nothing is legible; without it, the ledger is refused and stays as it is.
func TestLargeManifest(t *testing.T) {
	line := "a line of a large manifest. "
	large := strings.Repeat(line, 1<<20/len(line))
	for kind, open := range storages(t) {
		t.Run(kind, func(t *testing.T) {
			s := open()
			m := newMachine(t, s)
			m.origin.Run = "1"
			deploy(t, m.open(t), large, "a")
			if n := len(everything(t, m, s)); n > len(large)/4 {
				t.Errorf("1 MB takes %d KB", n>>10)
			}
			m.env[KeyVariable], m.origin.Run = keyText(1), "2"
			l := m.open(t)
			if got := string(l.Note(Applied, record("a", "").ObjectID)); !strings.Contains(got, large) {
				t.Errorf("what was stored without a key is read as %d bytes", len(got))
			}
			deploy(t, l, large, "a", "b")
			before := everything(t, m, s)
			if n := len(before); n > len(large)/2 || strings.Contains(before, line) || strings.Contains(before, "Deployment") {
				t.Errorf("with a key, %d KB are stored, and text is legible: %v", n>>10, strings.Contains(before, line))
			}
			m.env[KeyVariable] = ""
			_, err := m.tryOpen()
			if _, explained := problem.Of(err); !explained {
				t.Errorf("without the key: %v", err)
			}
			if everything(t, m, s) != before {
				t.Error("a process without the key has changed the ledger")
			}
		})
	}
}

// TestRestAfter tells after which writes the next one waits for more edits.
func TestRestAfter(t *testing.T) {
	for _, tc := range []struct {
		edits      int
		took, want time.Duration
	}{
		{1, time.Second, 0},
		{3, time.Second, 0},
		{4, 10 * time.Millisecond, 30 * time.Millisecond},
		{100, 20 * time.Millisecond, 60 * time.Millisecond},
		{100, 30 * time.Second, 100 * time.Millisecond},
	} {
		if got := restAfter(tc.edits, tc.took); got != tc.want {
			t.Errorf("after %d edits in %s: %s, want %s", tc.edits, tc.took, got, tc.want)
		}
	}
}
