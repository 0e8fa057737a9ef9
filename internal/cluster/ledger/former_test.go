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
