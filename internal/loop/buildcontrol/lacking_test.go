package buildcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
)

// TestOverlaid: a container that stays has to be replaced if it has files of updates in place, and not all of the newest ones.
func TestOverlaid(t *testing.T) {
	change := statetest.Change("a", "/src/a/x")
	finish := func(synced ...string) func(*state.BuildCompleted) {
		return func(b *state.BuildCompleted) { b.Mode, b.Synced, b.Touched = "synclet", synced, []string{"c1"} }
	}
	for name, tt := range map[string]struct {
		then func(*statetest.State)
		want []string
	}{
		"nothing has changed":      {then: func(*statetest.State) {}},
		"it has its image's files": {then: func(s *statetest.State) { s.Then(change) }},
		"it has the newest files":  {then: func(s *statetest.State) { s.Then(change).Begin("a").Finish("a", finish("c1")) }},
		"it lacks a newer one":     {then: func(s *statetest.State) { s.Then(change).Begin("a").Finish("a", finish("c1")).Then(change) }, want: []string{"c1"}},
		"an update has failed":     {then: func(s *statetest.State) { s.Then(change).Begin("a").Finish("a", finish()) }, want: []string{"c1"}},
		"its newest update still runs": {then: func(s *statetest.State) {
			s.Then(change).Begin("a").Finish("a", func(b *state.BuildCompleted) {
				b.Touched, b.Sending = []string{"c1"}, map[string]state.Sending{"c1": {Pod: "p"}}
			})
		}, want: []string{"c1"}},
		"an earlier session has left it behind": {then: func(s *statetest.State) {
			s.Then(state.ContainersRecognized{Resource: "a", Owed: map[string][]string{"c1": {"/src/a/x"}}, Copied: []string{"c1"}})
		}, want: []string{"c1"}},
		"an earlier session has updated it": {then: func(s *statetest.State) { s.Then(state.ContainersRecognized{Resource: "a", Copied: []string{"c1"}}) }},
		"it has started again": {then: func(s *statetest.State) {
			s.Then(change).Begin("a").Finish("a", finish("c1")).Then(statetest.Pod("a", "p", "d1", "a:1"), change)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := up(same, statetest.K8s("a", statetest.Image("a"))).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"))
			tt.then(s)
			var got []string
			v := s.View()
			for _, c := range lanesIn(v, "a").Overlaid() {
				got = append(got, c.ID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
