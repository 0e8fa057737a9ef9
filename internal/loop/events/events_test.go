package events_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

var update = flag.Bool("update", false, "write testdata/events.golden")

const golden = "testdata/events.golden"

// all returns every event of a session.
func all(v store.View, f events.Filter) []api.Event {
	c := events.Cursor{Filter: f}
	out, _ := c.Next(v, 1<<20)
	return out
}

// TestScenarios compares the events of parts of sessions with a golden file: each event in words, then as JSON.
func TestScenarios(t *testing.T) {
	var got bytes.Buffer
	for _, sc := range scenarios {
		s := statetest.New(statetest.Session)
		sc.play(s)
		fmt.Fprintf(&got, "== %s\n", sc.name)
		for _, e := range all(s.View(), events.Filter{}) {
			if e.Seq == 1 && sc.name != scenarios[0].name {
				continue // the session's begin
			}
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s\n  %s\n", events.Text(e, time.UTC), line)
		}
		got.WriteByte('\n')
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got), -update rewrites:\n%s", diff)
	}
}

// TestSchema checks that every event has a type that the API documents, and exactly the body that belongs to it, and that the
// scenarios show every type that a session makes on its own.
func TestSchema(t *testing.T) {
	seen := map[string]bool{"gap": true, "summary": true}
	for _, sc := range scenarios {
		s := statetest.New(statetest.Session)
		sc.play(s)
		for _, e := range all(s.View(), events.Filter{}) {
			seen[e.Type] = true
			i := slices.IndexFunc(api.EventTypes, func(t api.EventType) bool { return t.Name == e.Type })
			if i < 0 {
				t.Errorf("%s: type %q is not documented", sc.name, e.Type)
				continue
			}
			if body := bodies(t, e); body != api.EventTypes[i].Body {
				t.Errorf("%s: an event of type %s has %q, want %q", sc.name, e.Type, body, api.EventTypes[i].Body)
			}
		}
	}
	for _, kind := range api.EventTypes {
		if !seen[kind.Name] {
			t.Errorf("no scenario shows %s", kind.Name)
		}
	}
}

// bodies returns the names of an event's bodies, with spaces between.
func bodies(t *testing.T, e api.Event) string {
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatal(err)
	}
	var out []string
	for name := range fields {
		if !slices.Contains([]string{"v", "seq", "time", "type", "resource"}, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestFilter(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("web"), statetest.Local("gen"))).Deployed("web").Deployed("gen").
		Then(pod(waiting), pod(func(*state.Pod) {}))
	for _, tc := range []struct {
		name   string
		filter events.Filter
		want   string
	}{
		{"all", events.Filter{}, "session-started update-started update-finished update-started update-finished pod-created pod-ready"},
		{"one resource", events.Filter{Resources: []string{"gen"}}, "update-started update-finished"},
		{"a type", events.Filter{Types: []string{"pod-ready"}}, "pod-ready"},
		{"a family, and a type", events.Filter{Types: []string{"pod", "update-started"}}, "update-started update-started pod-created pod-ready"},
		{"half a word", events.Filter{Types: []string{"up"}}, ""},
		{"since", events.Filter{Since: statetest.Epoch.Add(5 * time.Second)}, "update-finished pod-created pod-ready"},
	} {
		var got []string
		for _, e := range all(s.View(), tc.filter) {
			got = append(got, e.Type)
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	for want, known := range map[string]bool{"pod": true, "pod-ready": true, "container-caught": true, "po": false, "": false, "pods": false} {
		if events.Known(want) != known {
			t.Errorf("%q is known: %v", want, !known)
		}
	}
}

// TestGap reads after more events than the table keeps.
func TestGap(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a")))
	c := events.Cursor{}
	if first, more := c.Next(s.View(), 10); len(first) != 1 || more {
		t.Fatalf("%v, %v", first, more)
	}
	for range state.KeptEvents {
		s.Begin("a").Finish("a", nil)
	}
	newest := state.NewestEvent(s.View())
	if newest != 1+2*state.KeptEvents || state.Events.In(s.View()).Len() != state.KeptEvents {
		t.Fatalf("%d events, %d are kept", newest, state.Events.In(s.View()).Len())
	}
	c.Filter.Types = []string{"session"}
	got, more := c.Next(s.View(), 2)
	if len(got) != 1 || more || got[0].Type != "gap" || got[0].Gap.From != 2 || got[0].Gap.Missed != state.KeptEvents || got[0].Seq != 1+state.KeptEvents {
		t.Errorf("%+v", got)
	}
	c = events.Cursor{After: newest - 3}
	got, more = c.Next(s.View(), 2)
	if len(got) != 2 || !more || got[0].Seq != newest-2 || c.After != newest-1 {
		t.Errorf("%+v %v, after %d", got, more, c.After)
	}
}

// TestRandomSequences plays random actions and checks the invariants: numbers rise without gaps and times never fall, every
// update has one begin and, once it has ended, one end, pods and servers have no end without a beginning, and batches hide
// nothing.
func TestRandomSequences(t *testing.T) {
	for seed := range uint64(200) {
		actions := random(rand.New(rand.NewPCG(seed, 1)))
		one, batched := statetest.New(actions...), store.New(state.Schema, store.WithClock(func() time.Time { return statetest.Epoch }))
		for _, a := range actions {
			batched.Dispatch(a)
		}
		batched.Step()
		each, together := all(one.View(), events.Filter{}), all(batched.Snapshot().All(), events.Filter{})
		if diff := cmp.Diff(kindsOf(each), kindsOf(together)); diff != "" {
			t.Fatalf("seed %d: one batch yields different events (-apart +together):\n%s", seed, diff)
		}
		check(t, seed, actions, each)
	}
}

func kindsOf(list []api.Event) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.Type+" "+e.Resource)
	}
	return out
}

func check(t *testing.T, seed uint64, actions []store.Action, list []api.Event) {
	t.Helper()
	begun, ended := map[string]int{}, map[string]int{}
	alive := map[string]bool{}
	var at time.Time
	for i, e := range list {
		if e.Seq != uint64(i+1) || e.Time.Before(at) {
			t.Fatalf("seed %d: event %d has number %d, %s after %s", seed, i, e.Seq, e.Time, at)
		}
		at = e.Time
		switch e.Type {
		case "update-started":
			begun[fmt.Sprint(e.Resource, e.Update.Serial)]++
		case "update-finished":
			ended[fmt.Sprint(e.Resource, e.Update.Serial)]++
		case "pod-created":
			alive[e.Pod.Name] = true
		case "pod-gone", "pod-ready", "pod-failing", "pod-pending":
			if !alive[e.Pod.Name] {
				t.Fatalf("seed %d: %s of %s, which was not created", seed, e.Type, e.Pod.Name)
			}
			alive[e.Pod.Name] = e.Type != "pod-gone"
		}
	}
	for _, a := range actions {
		switch a := a.(type) {
		case state.BuildStarted:
			if key := fmt.Sprint(a.Resource, a.Serial); begun[key] != 1 {
				t.Fatalf("seed %d: %d events of the begin of update %s", seed, begun[key], key)
			}
		case state.BuildCompleted:
			if key := fmt.Sprint(a.Resource, a.Serial); ended[key] != 1 {
				t.Fatalf("seed %d: %d events of the end of update %s", seed, ended[key], key)
			}
		}
	}
}

// random returns a session in which builds overlap, pods come and go, and files change meanwhile.
func random(r *rand.Rand) []store.Action {
	names := []model.ManifestName{"a", "b", "c"}
	actions := []store.Action{statetest.Session, statetest.Loaded(statetest.K8s("a", statetest.Image("a")), statetest.K8s("b"), statetest.Local("c"))}
	serial, running := map[model.ManifestName]int{}, map[model.ManifestName]bool{}
	pods := map[string]bool{}
	for range 100 {
		name := names[r.IntN(len(names))]
		pod := statetest.Pod(string(name), fmt.Sprintf("%s-%d", name, r.IntN(2)), fmt.Sprintf("c%d", r.IntN(4)), "i")
		switch r.IntN(8) {
		case 0, 1:
			if running[name] {
				actions = append(actions, state.BuildCompleted{Resource: name, Serial: serial[name], Err: []string{"", "no"}[r.IntN(2)],
					Cancelled: r.IntN(4) == 0, Deployed: r.IntN(2) == 0, At: statetest.Epoch.Add(time.Hour)})
			} else {
				serial[name]++
				actions = append(actions, state.BuildStarted{Resource: name, Serial: serial[name], Reason: state.ReasonFiles, At: statetest.Epoch})
			}
			running[name] = !running[name]
		case 2:
			actions = append(actions, statetest.Change("a", fmt.Sprintf("/src/a/%d", r.IntN(3))))
		case 3, 4:
			[]func(*state.Pod){waiting, crashed("Error"), func(*state.Pod) {}}[r.IntN(3)](&pod.Pod)
			pods[pod.Pod.UID] = true
			actions = append(actions, pod)
		case 5:
			actions = append(actions, state.PodGone{Pod: pod.Pod.Pod})
		case 6:
			actions = append(actions, state.BuildProgressed{Resource: name, Serial: serial[name], Stage: "at it"})
		default:
			actions = append(actions, state.ResourcesTriggered{Names: names[:r.IntN(len(names))]}, state.ResourcesReady{Names: names[:1]})
		}
	}
	return actions
}
