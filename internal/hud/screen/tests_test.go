package screen

import (
	"testing"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// withTests is a session with four labelled tests, of which one fails and two have kept their verdicts, and one resource.
func withTests() store.View {
	var all []model.Manifest
	for _, name := range []string{"unit", "api", "web", "slow"} {
		m := statetest.Local(name)
		m.Local.Test, m.Labels = &model.Test{}, []string{"checks"}
		all = append(all, m)
	}
	s := statetest.New(append([]store.Action{statetest.Session, state.TiltfileStarted{}, statetest.Loaded(append(all, statetest.Local("server"))...)}, statetest.Connected()...)...)
	for name, verdict := range map[string]model.Verdict{"unit": {Cached: true}, "api": {Cached: true}, "web": {}} {
		s.Begin(name).Finish(name, func(b *state.BuildCompleted) { b.Verdict, b.Deployed = &verdict, true })
	}
	s.Begin("slow").Finish("slow", func(b *state.BuildCompleted) { b.Verdict, b.Err = &model.Verdict{}, "exit code 1" })
	return s.View()
}

// TestViewOfTests shows only the tests, with the sum of their verdicts, and everything again; the heading of a group has the sum, too.
func TestViewOfTests(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 120, 34), withTests(), func(_ *testing.T, d *driver) {
		d.shows("checks ", "3 ok, 2 of them cached · ✖ 1", "server")
		d.press("I")
		d.shows("showing is:test: 3 ok, 2 of them cached", "slow", "ok, cached")
		d.hides("server")
		d.press("I")
		d.shows("server")
		d.hides("showing is:test")
	})
	play(t, func(_ *testing.T, d *driver) {
		d.press("I")
		d.shows("the Tiltfile declares no tests")
	})
}

// TestVerdictsOfAGroup counts tests that are ok, and no other resources.
func TestVerdictsOfAGroup(t *testing.T) {
	for said, rows := range map[string][]view.Row{
		"":                       {{Status: view.Well}, {Test: true, Status: view.Failed}, {Test: true, Cached: true, Status: view.Waiting}},
		"1 ok":                   {{Status: view.Well}, {Test: true, Status: view.Well}},
		"1 ok, 1 of them cached": {{Test: true, Cached: true, Status: view.Well}},
	} {
		if got := view.Sum(rows).Verdicts(); got != said {
			t.Errorf("%+v: %q, want %q", rows, got, said)
		}
	}
}
