package deploy

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestLedgerTakesInFormerOnes(t *testing.T) {
	dir := t.TempDir()
	now := openLedger(t, dir)
	old, err := Open(dir, LedgerKey{Cluster: "11111111-2222", Project: "old"})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := Open(dir, LedgerKey{Cluster: "other", Project: "old"})
	if err != nil {
		t.Fatal(err)
	}
	for l, records := range map[*Ledger]records{
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
		if err := now.TakeIn([]string{"old", "never", "abc"}); err != nil {
			t.Fatal(err)
		}
	}
	want := records{"web": {record("a", "1"), record("both", "new")}, "db": {record("b", "")}, "chart": nil}
	if diff := cmp.Diff(want, contents(t, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if commands, err := now.Commands(); err != nil || commands["chart"].String() != "rm" {
		t.Errorf("commands %v, %v", commands, err)
	}
	if _, err := os.Stat(old.Path()); !os.IsNotExist(err) {
		t.Errorf("the old ledger: %v", err)
	}
	if len(contents(t, elsewhere)) != 1 {
		t.Error("the ledger of another cluster was touched")
	}
}

func TestLedgerKeepsADamagedFormerOne(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir)
	path := ledgerPath(dir, LedgerKey{Cluster: "11111111-2222", Project: "old"})
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := l.TakeIn([]string{"old"})
	if _, ok := problem.Of(err); !ok || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// Objects that carry a former ID belong to the project: they are deleted, and applying them is no takeover.
func TestFormerProjectsAreOurs(t *testing.T) {
	c := fakeCluster(t)
	objects := c.injectAs(t, "web", "former", configYAML)
	c.mustApply(t, objects)
	_, log, err := c.apply(t, c.inject(t, configYAML), WithFormerProjects([]string{"former"}))
	if err != nil || strings.Contains(log, "another project") {
		t.Errorf("%v\n%s", err, log)
	}
	for _, tc := range []struct {
		opts []Option
		want DeleteOutcome
	}{{nil, OutcomeForeign}, {[]Option{WithFormerProjects([]string{"x", "former"})}, OutcomeDeleted}} {
		c := fakeCluster(t)
		objects := c.injectAs(t, "web", "former", configYAML)
		c.mustApply(t, objects)
		var got DeleteOutcome
		if err := NewApplier(c.dyn, c.mapper, tc.opts...).Delete(t.Context(), DeleteRequest{Objects: refsOf(objects), Project: "project1",
			Done: func(_ ObjectRef, o DeleteOutcome) { got = o }}); err != nil || got != tc.want {
			t.Errorf("%d former IDs: %s, %v; want %s", len(tc.opts), got, err, tc.want)
		}
	}
}
