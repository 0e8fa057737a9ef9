package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestLedgerTakesInFormerOnes(t *testing.T) {
	dir := t.TempDir()
	now := openLedger(t, dir)
	old, err := openKey(t, dir, Key{Cluster: "11111111-2222", Project: "old"})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := openKey(t, dir, Key{Cluster: "other", Project: "old"})
	if err != nil {
		t.Fatal(err)
	}
	for l, records := range map[*Ledger]Records{
		now:       {"web": {record("both", "new")}},
		old:       {"web": {record("a", "1")}, "former-name": {record("both", "stale")}, "db": {record("b", "")}},
		elsewhere: {"web": {record("x", "9")}},
	} {
		if err := l.RecordAll(records); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.RecordCommand("chart", model.Cmd{Argv: []string{"rm"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second call has nothing left to do
		if err := now.TakeIn(now.storage, []string{"old", "never", "abc"}); err != nil {
			t.Fatal(err)
		}
	}
	want := Records{"web": {record("a", "1"), record("both", "new")}, "db": {record("b", "")}, "chart": nil}
	if diff := cmp.Diff(want, contents(t, now), anyRevision); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if commands, err := now.Commands(); err != nil || commands["chart"].String() != "rm" {
		t.Errorf("commands %v, %v", commands, err)
	}
	if _, err := os.Stat(old.Place()); !os.IsNotExist(err) {
		t.Errorf("the old ledger: %v", err)
	}
	if len(contents(t, elsewhere)) != 1 {
		t.Error("the ledger of another cluster was touched")
	}
}

func TestLedgerKeepsADamagedFormerOne(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir)
	path := filepath.Join(dir, Key{Cluster: "11111111-2222", Project: "old"}.head())
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := l.TakeIn(l.storage, []string{"old"})
	if _, ok := problem.Of(err); !ok || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestTakeInKeepsTheHistory: a ledger that does not exist yet gets the other one whole, and its history goes on. One that exists has a
// history of its own.
func TestTakeInKeepsTheHistory(t *testing.T) {
	for fromKind, openFrom := range places {
		for toKind, openTo := range places {
			t.Run(fromKind+" to "+toKind, func(t *testing.T) {
				m := newMoving(t, openFrom(t), openTo(t))
				open := func() *Ledger {
					t.Helper()
					l, err := Open(m.to.storage, Key{Cluster: "c", Project: "named"}, Options{Dir: m.to.dir, Origin: func() Origin { return m.to.origin }})
					if err != nil {
						t.Fatal(err)
					}
					return l
				}
				l := open()
				for range 2 { // the second call has nothing left to do
					if err := l.TakeIn(m.from.storage, []string{"p"}); err != nil {
						t.Fatal(err)
					}
				}
				if is, err := open().archive(t.Context()); err != nil || !is.equal(m.all) {
					t.Errorf("it lacks something, %v", err)
				}
				if left, err := m.from.storage.List(t.Context(), "c-p."); err != nil || len(left) > 0 {
					t.Errorf("the former ledger has %q, %v", left, err)
				}
				if got := declaredTexts(t, open(), 1); got != `"0 a" "0 b0"` {
					t.Errorf("revision 1 has %s", got)
				}
				m.to.origin = Origin{Run: "next", Command: "ci"}
				deploy(t, l, "next", "n")
				if history, err := l.History(); err != nil || len(history) != 4 || history[3].Number != 4 {
					t.Errorf("%+v, %v", history, err)
				}

				more := newMachine(t, openFrom(t))
				more.dir = m.to.dir
				other := newMovingFrom(t, more, newMachine(t, openTo(t)))
				if err := l.TakeIn(other.from.storage, []string{"p"}); err != nil {
					t.Fatal(err)
				}
				history, err := l.History()
				if err != nil || len(history) != 4 || l.Note(Applied, record("b2", "").ObjectID) == nil {
					t.Errorf("into an existing one: %+v, %v", history, err)
				}
			})
		}
	}
}
