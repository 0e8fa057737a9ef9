package buildcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// carryOut starts the updates of resource a that the plan starts, and ends them successfully in the containers that lack
// something. It returns the files that they got.
func carryOut(t *testing.T, s *statetest.State) (got string) {
	t.Helper()
	plan := Decide(s.View(), nil)
	if len(plan.Start) != 1 {
		t.Fatalf("want one update, got:\n%s", text(plan))
	}
	c := plan.Start[0]
	lack := lanesIn(s.View(), "a").LackingFor(c)
	s.Then(state.BuildStarted{Resource: "a", Serial: state.Updates.In(s.View()).Value("a").Serial + 1, Reason: c.Reason, At: s.Snapshot().At, Until: c.Until, Ahead: c.Ahead})
	s.Finish("a", func(b *state.BuildCompleted) {
		b.Mode = "synclet"
		for _, l := range lack {
			b.Synced = append(b.Synced, l.ID)
			got += l.ID
			for _, f := range l.Files {
				got += " " + f
			}
		}
	})
	return got
}

// TestPart replaces the container of a resource whose file w has been copied into it, while another change waits. The new
// container gets w and nothing more; the other change still waits, and the resource looks as before.
func TestPart(t *testing.T) {
	image := statetest.Image("a")
	image.LiveUpdate.StopPaths = []string{"/src/a/go.mod"}
	other := image
	other.Docker = &model.DockerBuild{Context: "/src/a", Contents: "FROM other"}
	auto := statetest.K8s("a", image)
	mod, x := statetest.Change("a", "/src/a/go.mod"), statetest.Change("a", "/src/a/x")
	redeclared := statetest.Loaded(statetest.K8s("a", other))
	fails := func(s *statetest.State) {
		s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Err = "image", "no" })
	}
	failsToApply := func(s *statetest.State) {
		s.Begin("a").Finish("a", func(b *state.BuildCompleted) {
			b.Mode, b.Err, b.Images = "image", "no", map[string]model.ImageResult{"a": {Local: "a:2", Cluster: "a:2", StartedAt: b.At}}
		})
	}
	for _, tc := range []struct {
		name     string
		manifest model.Manifest
		asks     bool
		then     []store.Action
		fails    func(*statetest.State)
		hold     string
		// got are the files that the new container gets, if there are more than w.
		got    string
		status string
		// release ends the wait, and after is the plan then.
		release store.Action
		after   string
	}{
		{name: "nothing waits", manifest: auto, status: "ok"},
		{name: "manual, nothing waits", manifest: manual(auto), status: "ok"},
		{name: "manual, another file", manifest: manual(auto), then: []store.Action{x}, hold: "hold a: manual []", status: "pending",
			release: trigger, after: "start a: files changed, triggered /src/a/x (in place)"},
		{name: "manual, the same file", manifest: manual(auto), then: []store.Action{statetest.Change("a", "/src/a/w")}, status: "ok"},
		{name: "manual, the same file and another one", manifest: manual(auto), then: []store.Action{statetest.Change("a", "/src/a/w", "/src/a/x")}, hold: "hold a: manual []",
			status: "pending", release: trigger, after: "start a: files changed, triggered /src/a/x (in place)"},
		{name: "paused, the same file", manifest: auto, then: []store.Action{state.SessionPaused{}, statetest.Change("a", "/src/a/w")}, status: "ok"},
		{name: "manual, a file that needs an image", manifest: manual(auto), then: []store.Action{mod}, hold: "hold a: manual []", status: "pending",
			release: trigger, after: "start a: files changed, triggered /src/a/go.mod (in place)"},
		{name: "manual, a Dockerfile", manifest: manual(auto), then: []store.Action{statetest.Loaded(manual(statetest.K8s("a", other)))}, hold: "hold a: manual []",
			status: "pending", release: trigger, after: "start a: config changed, triggered"},
		{name: "paused, nothing waits", manifest: auto, then: []store.Action{state.SessionPaused{}}, status: "ok"},
		{name: "paused, another file", manifest: auto, then: []store.Action{state.SessionPaused{}, x}, hold: "hold a: paused []", status: "pending",
			release: state.SessionResumed{}, after: "start a: files changed /src/a/x (in place)"},
		{name: "paused, a file that was only noticed", manifest: auto, then: []store.Action{state.SessionPaused{}, noticed("a", "/src/a/x")}, hold: "hold a: paused []", status: "ok",
			release: state.SessionResumed{}, after: "start a: files changed /src/a/x (in place)"},
		{name: "paused, a Dockerfile", manifest: auto, then: []store.Action{state.SessionPaused{}, redeclared}, hold: "hold a: paused []", status: "pending",
			release: state.SessionResumed{}, after: "start a: config changed"},
		{name: "paused, manual", manifest: manual(auto), then: []store.Action{state.SessionPaused{}, x}, hold: "hold a: manual []", status: "pending",
			release: trigger, after: "start a: files changed, triggered /src/a/x (in place)"},
		{name: "a Dockerfile that fails to build", manifest: auto, then: []store.Action{redeclared}, fails: fails, status: "error",
			release: x, after: "start a: files changed /src/a/x"},
		{name: "a file with which the image fails to build", manifest: auto, then: []store.Action{mod, x}, fails: fails, status: "error",
			release: x, after: "start a: files changed /src/a/x"},
		{name: "an image that could not be applied", manifest: auto, then: []store.Action{mod, x}, fails: failsToApply, status: "error",
			release: x, after: "start a: files changed /src/a/x"},
		{name: "an engine that does not answer", manifest: auto, then: []store.Action{redeclared, state.EngineReported{}}, hold: "hold a: waiting-for-engine []", status: "pending",
			release: state.EngineReported{Connected: true}, after: "start a: config changed"},
		{name: "an image that fails to build with a newer version of the file", manifest: auto, then: []store.Action{mod, statetest.Change("a", "/src/a/w")}, fails: fails, status: "error",
			release: x, after: "start a: files changed /src/a/x"},
		{name: "asks, a Dockerfile", manifest: auto, asks: true, then: []store.Action{redeclared}, hold: "hold a: waiting-for-confirmation []", status: "pending",
			release: agreed("a"), after: "start a: config changed"},
		{name: "asks, a Dockerfile and a file", manifest: auto, asks: true, then: []store.Action{redeclared, x}, hold: "hold a: waiting-for-confirmation []",
			got: "c2 /src/a/w /src/a/x", status: "pending", release: agreed("a"), after: "start a: config changed"},
		{name: "asks, a Dockerfile and a file that was only noticed", manifest: auto, asks: true, then: []store.Action{redeclared, noticed("a", "/src/a/x")},
			hold: "hold a: waiting-for-confirmation []", got: "c2 /src/a/w /src/a/x", status: "pending", release: agreed("a"), after: "start a: config changed"},
		{name: "asks, a file that needs an image, and one that does not", manifest: auto, asks: true, then: []store.Action{mod, x}, hold: "hold a: waiting-for-confirmation []",
			got: "c2 /src/a/w /src/a/x", status: "pending", release: agreed("a"), after: "start a: files changed /src/a/go.mod (in place)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := up(same, tc.manifest)
			if tc.asks {
				s = asking(tc.manifest).Then(agreed("a"))
			}
			s.Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/w"))
			if tc.manifest.TriggerMode == model.TriggerManual {
				s.Then(trigger)
			}
			carryOut(t, s)
			s.Then(tc.then...)
			if tc.fails != nil {
				tc.fails(s)
			}
			s.Then(statetest.Pod("a", "p", "c2", "a:1"))
			want := "c2 /src/a/w"
			if tc.got != "" {
				want = tc.got
			}
			if diff := cmp.Diff(want, carryOut(t, s)); diff != "" {
				t.Errorf("the new container gets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.hold, text(Decide(s.View(), nil))); diff != "" {
				t.Errorf("afterwards (-want +got):\n%s", diff)
			}
			if got := standing(s.View(), "a"); got != tc.status {
				t.Errorf("the status is %s, want %s", got, tc.status)
			}
			if tc.release == nil {
				return
			}
			s.Then(tc.release)
			if diff := cmp.Diff(tc.after, text(Decide(s.View(), nil))); diff != "" {
				t.Errorf("once it need not wait (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewestVersionGoesToAll: one of two containers is replaced while a newer version of its file waits, and only that version
// exists. Both containers get it, and it no longer waits, unless the file is saved once more meanwhile.
func TestNewestVersionGoesToAll(t *testing.T) {
	one, two := statetest.Pod("a", "p1", "c1", "a:1"), statetest.Pod("a", "p2", "c2", "a:1")
	w := statetest.Change("a", "/src/a/w")
	s := up(same, manual(statetest.K8s("a", statetest.Image("a")))).Deployed("a").Then(one, two, w, trigger)
	if got := carryOut(t, s); got != "c1 /src/a/wc2 /src/a/w" {
		t.Fatalf("triggered, the containers get %q", got)
	}
	const waits = "hold a: manual []"
	if diff := cmp.Diff(waits, text(Decide(s.Then(w).View(), nil))); diff != "" {
		t.Fatalf("saved again (-want +got):\n%s", diff)
	}
	s.Then(statetest.Pod("a", "p2", "c3", "a:1"))
	for _, want := range []string{"c3 /src/a/w", "c1 /src/a/w"} {
		if got := carryOut(t, s); got != want {
			t.Errorf("the containers get %q, want %q", got, want)
		}
	}
	if diff := cmp.Diff("", text(Decide(s.View(), nil))); diff != "" {
		t.Errorf("afterwards (-want +got):\n%s", diff)
	}

	s.Then(w, statetest.Pod("a", "p2", "c4", "a:1"))
	c := Decide(s.View(), nil).Start[0]
	s.Then(state.BuildStarted{Resource: "a", Serial: 9, At: s.Snapshot().At, Until: c.Until, Ahead: c.Ahead}).Then(w)
	s.Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "synclet", []string{"c4"} })
	if diff := cmp.Diff(waits, text(Decide(s.View(), nil))); diff != "" {
		t.Errorf("saved during the part (-want +got):\n%s", diff)
	}
}

// standing returns whether an update of a resource is due, or else the result of the last one.
func standing(v store.View, name string) string {
	m, u := state.Resources.In(v).Value(name).Manifest, state.Updates.In(v).Value(name)
	last, _ := u.Last()
	switch {
	case Due(&m, &u):
		return "pending"
	case last.Err != "":
		return "error"
	}
	return "ok"
}

var trigger = state.ResourcesTriggered{Names: []model.ManifestName{"a"}}

// TestSavesBesideADockerfile: in a session that asks, containers get saved files while a Dockerfile waits, which then still
// waits, as the user was told. A Dockerfile that is as before no longer waits.
func TestSavesBesideADockerfile(t *testing.T) {
	image := statetest.Image("a")
	other := image
	other.Docker = &model.DockerBuild{Context: "/src/a", Contents: "FROM other"}
	s := asking(statetest.K8s("a", image)).Then(agreed("a")).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"))
	s.Then(statetest.Loaded(statetest.K8s("a", other)))
	const waits = "hold a: waiting-for-confirmation []"
	for _, file := range []string{"x", "y", "x"} {
		s.Then(statetest.Change("a", "/src/a/"+file))
		if diff := cmp.Diff("start a: files changed /src/a/"+file+" (in place)\n"+waits, text(Decide(s.View(), nil))); diff != "" {
			t.Fatalf("after saving %s (-want +got):\n%s", file, diff)
		}
		carryOut(t, s)
		if diff := cmp.Diff(waits, text(Decide(s.View(), nil))); diff != "" {
			t.Fatalf("with %s in the container (-want +got):\n%s", file, diff)
		}
	}
	s.Then(noticed("a", "/src/a/z"))
	s.Then(state.BuildStarted{Resource: "a", Serial: 9, At: s.Snapshot().At, Until: s.Snapshot().At})
	if diff := cmp.Diff(waits, text(Decide(s.View(), nil))); diff != "" {
		t.Errorf("while z goes into the container (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("hold a: building []", text(Decide(s.Then(agreed("a")).View(), nil))); diff != "" {
		t.Errorf("confirmed meanwhile (-want +got):\n%s", diff)
	}
	s.Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "synclet", []string{"c1"} })
	s.Then(statetest.Loaded(statetest.K8s("a", image)))
	if diff := cmp.Diff("", text(Decide(s.View(), nil))); diff != "" {
		t.Errorf("with the Dockerfile as before (-want +got):\n%s", diff)
	}
	if got := standing(s.View(), "a"); got != "ok" {
		t.Errorf("the status is %s, want ok", got)
	}
}

// TestPartThatFails: a container that a part does not get into is left alone until something else changes, and the resource says so.
func TestPartThatFails(t *testing.T) {
	s := up(same, statetest.K8s("a", statetest.Image("a"))).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/w"))
	carryOut(t, s)
	s.Then(state.SessionPaused{}, statetest.Pod("a", "p", "c2", "a:1"))
	c := Decide(s.View(), nil).Start[0]
	s.Then(state.BuildStarted{Resource: "a", Serial: 3, At: s.Snapshot().At, Until: c.Until})
	s.Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Err, b.Stuck = "synclet", "read-only", []string{"c2"} })
	if diff := cmp.Diff("", text(Decide(s.View(), nil))); diff != "" {
		t.Errorf("after the failure (-want +got):\n%s", diff)
	}
	if got := standing(s.View(), "a"); got != "error" {
		t.Errorf("the status is %s, want error", got)
	}
	s.Then(statetest.Pod("a", "p", "c3", "a:1"))
	if got := carryOut(t, s); got != "c3 /src/a/w" {
		t.Errorf("another container gets %q", got)
	}
}
