package buildcontrol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// leave ends the running update of a: the containers in synced have it, and it is still running in the ones in behind.
func leave(s *statetest.State, synced, behind string) {
	s.Finish("a", func(b *state.BuildCompleted) {
		b.Mode, b.Synced, b.Sending = "synclet", strings.Fields(synced), map[string]state.Sending{}
		for _, id := range b.Synced {
			b.Containers = append(b.Containers, model.ContainerUpdate{ID: id})
		}
		for _, id := range strings.Fields(behind) {
			b.Sending[id] = state.Sending{Pod: "p" + id, Files: []string{"a/x"}}
			b.Containers = append(b.Containers, model.ContainerUpdate{ID: id, Behind: true})
		}
	})
}

func ended(id string, change func(*state.LaneEnded)) state.LaneEnded {
	a := state.LaneEnded{Resource: "a", Serial: 2, Update: model.ContainerUpdate{ID: id}, Synced: true}
	if change != nil {
		change(&a)
	}
	return a
}

func lanesIn(v store.View, name model.ManifestName) Lanes {
	r := state.Resources.In(v).Ref(string(name))
	return LanesOf(&r.Value.Manifest, &state.Updates.In(v).Ref(string(name)).Value, state.PodsOf(v, name))
}

// TestBehind follows resources of three containers, some of which take long.
func TestBehind(t *testing.T) {
	x, y := statetest.Change("a", "/src/a/x"), statetest.Change("a", "/src/a/y")
	failed := func(a *state.LaneEnded) { a.Synced, a.Fault, a.Update.Err = false, "broken pipe", "broken pipe" }
	for _, tc := range []struct {
		name           string
		synced, behind string
		then           []store.Action
		want           string
		lacking        string // container ids with the files that they lack
		beside         string
	}{
		{name: "nothing else changed", synced: "1 2", behind: "3"},
		{name: "a save goes to the others", synced: "1 2", behind: "3", then: []store.Action{y}, want: "start a: files changed /src/a/y (in place)",
			lacking: "1 [/src/a/y], 2 [/src/a/y]", beside: "false map[]"},
		{name: "a noticed save goes to the others", synced: "1 2", behind: "3", then: []store.Action{noticed("a", "/src/a/y")},
			want: "start a: files changed /src/a/y (in place)", lacking: "1 [/src/a/y], 2 [/src/a/y]", beside: "false map[]"},
		{name: "all are behind", behind: "1 2 3", then: []store.Action{y}, want: "hold a: waiting-for-container []"},
		{name: "a change that needs an image does not wait", behind: "1 2 3", then: []store.Action{statetest.Change("a", "/src/a/x"),
			state.ResourcesTriggered{Names: []model.ManifestName{"a"}}}, want: "start a: files changed, triggered /src/a/x"},
		{name: "it is done", synced: "1 2", behind: "3", then: []store.Action{ended("3", nil)}},
		{name: "the end of another update", synced: "1 2", behind: "3", then: []store.Action{ended("3", func(a *state.LaneEnded) { a.Serial = 1 }), y},
			want: "start a: files changed /src/a/y (in place)", lacking: "1 [/src/a/y], 2 [/src/a/y]", beside: "false map[]"},
		{name: "it was cancelled", synced: "1 2", behind: "3", then: []store.Action{ended("3", func(a *state.LaneEnded) { a.Synced = false })},
			want: "start a: container started /src/a/x (in place)", lacking: "3 [/src/a/x] new", beside: "true map[]"},
		{name: "it broke: it is tried again and waited for", synced: "1 2", behind: "3", then: []store.Action{ended("3", failed)},
			want: "start a: container was behind /src/a/x (in place)", lacking: "3 [/src/a/x] new", beside: "true map[a:2]"},
		{name: "the containers differ: they get a new image", synced: "1 2", behind: "3", then: []store.Action{ended("3", func(a *state.LaneEnded) {
			a.Synced, a.Broken = false, "the pods are inconsistent"
		})}, want: "start a: update in place failed"},
		{name: "its pod goes: its state is dropped", synced: "1 2", behind: "3",
			then: []store.Action{state.PodGone{Pod: statetest.Pod("a", "p3", "3", "a:1").Pod.Pod}, ended("3", failed)}},
		{name: "the containers that had it go: the save waits for the last one", synced: "1 2", behind: "3", then: []store.Action{
			state.PodGone{Pod: statetest.Pod("a", "p1", "1", "a:1").Pod.Pod}, state.PodGone{Pod: statetest.Pod("a", "p2", "2", "a:1").Pod.Pod}, y},
			want: "hold a: waiting-for-container []"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := up(same, statetest.K8s("a", statetest.Image("a"))).Deployed("a")
			for _, id := range []string{"1", "2", "3"} {
				s.Then(statetest.Pod("a", "p"+id, id, "a:1"))
			}
			leave(s.Then(x).Begin("a"), tc.synced, tc.behind)
			v := s.Then(tc.then...).View()
			if d := cmp.Diff(tc.want, text(Decide(v, nil))); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			lanes := lanesIn(v, "a")
			lack := lanes.Lacking()
			var got []string
			for _, l := range lack {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %v %s", l.ID, l.Files, map[bool]string{true: "new"}[l.New])))
			}
			slices.Sort(got)
			if d := cmp.Diff(tc.lacking, strings.Join(got, ", ")); d != "" {
				t.Errorf("lacking: -want +got\n%s", d)
			}
			if b := lanes.Beside(lack); len(lack) > 0 && fmt.Sprint(b.Others, b.Peers) != tc.beside {
				t.Errorf("beside: %v %v, want %s", b.Others, b.Peers, tc.beside)
			}
		})
	}
}

// TestCatchingUp gives a container that was behind the changes made meanwhile, in their order.
func TestCatchingUp(t *testing.T) {
	s := up(same, statetest.K8s("a", statetest.Image("a"))).Deployed("a").
		Then(statetest.Pod("a", "p1", "1", "a:1"), statetest.Pod("a", "p2", "2", "a:1"), statetest.Change("a", "/src/a/x"))
	leave(s.Begin("a"), "1", "2")
	s.Then(statetest.Change("a", "/src/a/x", "/src/a/y")).Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Synced = []string{"1"} })
	if got := text(Decide(s.View(), nil)); got != "" {
		t.Errorf("while it is behind: %s", got)
	}
	s.Then(ended("2", nil))
	if d := cmp.Diff("start a: container was behind /src/a/x /src/a/y (in place)", text(Decide(s.View(), nil))); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Synced = []string{"2"} })
	if got := text(Decide(s.View(), nil)); got != "" {
		t.Errorf("in the end: %s", got)
	}
}
