package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestVerdicts shows the verdicts of a test: in its row, and on its card.
func TestVerdicts(t *testing.T) {
	test := statetest.Local("t")
	test.Local.Test = &model.Test{}
	failed := []model.TestCase{{Suite: "s", Name: "adds\x1b[2J", Result: model.CaseFailed, Text: "want 1\ngot 2", File: "/src/a.js", Line: 4}, {Name: "b", Result: model.CasePassed}}
	for _, tc := range []struct {
		name    string
		verdict model.Verdict
		err     string
		row     string
		card    []string
	}{
		{"passed before", model.Verdict{Cached: true, Cases: failed[1:]}, "", "ok, cached  1 single test", nil},
		{"failed", model.Verdict{Cases: failed, Left: 3}, "exit code 1", "1 of 5 failed: adds", []string{"exit code 1", "s adds  /src/a.js:4", "want 1", "got 2"}},
		{"failed without single tests", model.Verdict{}, "exit code 1", "exit code 1", []string{"exit code 1"}},
	} {
		s := statetest.New(append([]store.Action{statetest.Session, state.TiltfileStarted{}, statetest.Loaded(test)}, statetest.Connected()...)...).
			Begin("t").Finish("t", func(b *state.BuildCompleted) { b.Verdict, b.Err, b.Deployed = &tc.verdict, tc.err, tc.err == "" })
		is := Build(s.View(), s.Now, 0)
		row := is.Rows[len(is.Rows)-1].Update.String()
		if !strings.HasPrefix(row, tc.row) {
			t.Errorf("%s: the row says %q, want %q", tc.name, row, tc.row)
		}
		var card []string
		for _, c := range is.Cards {
			card = append(card, c.Cause...)
		}
		if diff := cmp.Diff(tc.card, card); diff != "" {
			t.Errorf("%s: the card (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestSingleTests shows the single tests below the update of a test, the failed ones first.
func TestSingleTests(t *testing.T) {
	m := statetest.Local("t")
	m.Local.Test = &model.Test{}
	v := model.Verdict{Left: 2, Cases: []model.TestCase{{Suite: "sum", Name: "adds", Result: model.CaseFailed, Took: 3 * time.Millisecond, Text: "got 3\nwant 4", File: "/src/sum_test.go", Line: 7},
		{Suite: "sum", Name: "takes\x1b]0;x\x07 away", Result: model.CasePassed}, {Name: "divides", Result: model.CaseSkipped}}}
	s := statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(m)).Begin("t").
		Finish("t", func(b *state.BuildCompleted) { b.Verdict, b.Err = &v, "exit code 1" })
	d, _ := DetailsOf(s.View(), "t", s.Now)
	var got []string
	for line := range strings.Lines(d.Text(120)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "failed ") || strings.HasPrefix(line, "and ") || strings.HasPrefix(line, "| ") {
			got = append(got, line)
		}
	}
	want := []string{"failed  sum adds  3.0 ms  /src/sum_test.go:7", "| got 3", "| want 4", "and 4 others, 1 of them skipped", "| passed  sum takes away", "| skipped divides", "| and 2 others"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
