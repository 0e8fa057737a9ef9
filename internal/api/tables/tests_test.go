package tables

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestTests checks the objects of tests in each state: a line for each, with its cells.
func TestTests(t *testing.T) {
	unit, other, off := statetest.Local("unit"), statetest.Local("other"), statetest.Local("off")
	for _, m := range []*model.Manifest{&unit, &off} {
		m.Local.Test = &model.Test{}
	}
	up := func() *statetest.State {
		return statetest.New(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}, statetest.Loaded(unit, other, off)).
			Then(state.ResourcesSwitched{Off: []model.ManifestName{"off"}})
	}
	ran := func(err string, v *model.Verdict) *statetest.State {
		return up().Begin("unit").Finish("unit", func(b *state.BuildCompleted) { b.Err, b.Verdict, b.Deployed = err, v, err == "" })
	}
	one := []model.TestCase{{Suite: "sum", Name: "adds", Result: model.CaseFailed, Took: 3 * time.Millisecond, Text: "got 3\nwant 4", File: "/src/sum_test.go", Line: 7},
		{Suite: "sum", Name: "adds", Result: model.CasePassed}, {Name: "50% of a/b", Result: model.CaseSkipped}}
	change := state.FilesChanged{Changes: []state.FileChange{{Target: unit.DeployID(), Paths: []string{"/src/unit/x"}}}}
	for _, tc := range []struct {
		name  string
		state *statetest.State
		want  string
	}{
		{"it has not run", up(), "unit|waiting||||"},
		{"it runs", up().Begin("unit"), "unit|waiting||||"},
		{"it has passed", ran("", &model.Verdict{Took: 20 * time.Millisecond}), "unit|passed|20ms|||"},
		{"before", ran("", &model.Verdict{Cached: true, Cases: one[1:2], Left: 4}), "unit|passed, cached||5||\nunit:sum:adds|passed||||"},
		{"it has failed", ran("exit code 1", &model.Verdict{Took: time.Second, Cases: one}),
			"unit|failed|1s|1 of 3 failed||exit code 1\nunit:sum:adds|failed|3ms||/src/sum_test.go:7|got 3 …\nunit:sum:adds:2|passed||||\nunit:50~p of a:b|skipped||||"},
		{"files have changed", ran("", &model.Verdict{Cases: one}).Then(change), "unit|waiting||||"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var lines []string
			kind := Tests()
			for it := range kind.Items(tc.state.View()) {
				o := it.Make()
				cells := []string{o.GetName()}
				for _, c := range kind.Columns {
					cells = append(cells, fmt.Sprint(c.Value(o)))
				}
				if o.(*Test).Status.Result == "waiting" {
					cells[len(cells)-1] = "" // package status has the words
				}
				lines = append(lines, strings.Join(cells, "|"))
			}
			if diff := cmp.Diff(tc.want, strings.Join(lines, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTestsStop checks that a reader that has seen enough gets no more tests.
func TestTestsStop(t *testing.T) {
	unit := statetest.Local("unit")
	unit.Local.Test = &model.Test{}
	s := statetest.New(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}, statetest.Loaded(unit)).Begin("unit").
		Finish("unit", func(b *state.BuildCompleted) {
			b.Deployed, b.Verdict = true, &model.Verdict{Cases: []model.TestCase{{Name: "a"}, {Name: "b"}}}
		})
	for want := range 3 {
		n := 0
		for range Tests().Items(s.View()) {
			if n == want {
				break
			}
			n++
		}
		if n != want {
			t.Errorf("%d tests, want %d", n, want)
		}
	}
}
