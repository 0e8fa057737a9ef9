package ledger

import (
	"os"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// noted records an object and notes its declaration.
func noted(t *testing.T, l *Ledger, name, text string) model.ObjectID {
	t.Helper()
	id := record(name, "").ObjectID
	if err := l.Record("web", []Record{record(name, "1")}); err != nil {
		t.Fatal(err)
	}
	if err := l.SetNote(Applied, id, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return id
}

func filesIn(t *testing.T, n noteFiles) int {
	t.Helper()
	entries, err := os.ReadDir(n.dir)
	if ignoreMissing(err) != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestNoteFiles: a file that belongs to another object, or is damaged, is no note.
func TestNoteFiles(t *testing.T) {
	l := openLedger(t, t.TempDir())
	files := l.notes.(noteFiles)
	a, b := noted(t, l, "a", "one"), noted(t, l, "b", "two")
	if got := string(l.Note(Applied, a)); got != "one" {
		t.Errorf("the note is %q", got)
	}
	if err := os.Rename(files.path(Applied, b), files.path(Applied, a)); err != nil {
		t.Fatal(err)
	}
	if got := l.Note(Applied, a); got != nil {
		t.Errorf("the file of another object is read as %q", got)
	}
	if err := os.WriteFile(files.path(Applied, a), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := l.Note(Applied, a); got != nil {
		t.Errorf("an empty file is read as %q", got)
	}
}

// TestNotesGoWithRecords: a note goes with the record of its object, stays if the record passes on, and moves with the project.
func TestNotesGoWithRecords(t *testing.T) {
	for kind, open := range storages(t) {
		t.Run(kind, func(t *testing.T) {
			m := newMachine(t, open())
			l := m.open(t)
			a, b := noted(t, l, "a", "one"), noted(t, l, "b", "two")
			for _, id := range []model.ObjectID{a, b} {
				for _, k := range noteKinds {
					if err := l.SetNote(k, id, []byte(string(k)+id.Name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := l.HandOver("web", map[model.ObjectID]model.ManifestName{a: "api"}); err != nil {
				t.Fatal(err)
			}
			if err := l.Remove("web"); err != nil {
				t.Fatal(err)
			}
			l.Update("web")(Outcome{}) // saves
			later, err := Open(m.storage, Key{Cluster: "c", Project: "moved"}, Options{Dir: m.dir})
			if err != nil {
				t.Fatal(err)
			}
			if err := later.TakeIn(m.storage, []string{"p"}); err != nil {
				t.Fatal(err)
			}
			for _, k := range noteKinds {
				if got := string(later.Note(k, a)); got != string(k)+"a" {
					t.Errorf("the note %s of the object that stays is %q", k, got)
				}
				if got := later.Note(k, b); got != nil {
					t.Errorf("the note %s of the object that goes is %q", k, got)
				}
			}
			if err := later.Remove("api"); err != nil {
				t.Fatal(err)
			}
			later.Update("api")(Outcome{})
			if files, ok := later.notes.(noteFiles); ok {
				if _, err := os.Stat(files.dir); err == nil || filesIn(t, l.notes.(noteFiles)) != 0 {
					t.Error("an empty folder stays")
				}
			} else if _, err := m.storage.Load(t.Context(), later.key.notes()); err == nil {
				t.Error("an empty document stays")
			}
		})
	}
}
