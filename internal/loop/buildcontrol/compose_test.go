package buildcontrol

import (
	"cmp"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestComposeRuntime judges a service by its containers.
func TestComposeRuntime(t *testing.T) {
	running := model.Pod{Phase: "Running", Status: "Running", Engine: "running", Ready: true,
		Containers: []model.Container{{Name: "a", ID: "c1", State: model.ContainerRunning}}}
	with := func(p model.Pod, change func(*model.Pod)) model.Pod {
		p.Containers = append([]model.Container(nil), p.Containers...)
		change(&p)
		return p
	}
	const span = "pod:a-1/a:c1@1970-01-01T00:00:10Z"
	for name, c := range map[string]struct {
		containers []model.Pod
		synclet    *state.Synclet
		none       bool      // the update has started none
		started    time.Time // when the update has started it
		want       RuntimeState
	}{
		"not seen yet": {want: RuntimeState{Status: RuntimePending, Text: "no container", Err: "the service no longer has a container"}},
		"scaled to 0":  {none: true, want: RuntimeState{Status: RuntimeOK, Text: "no containers"}},
		"running":      {containers: []model.Pod{running}, want: RuntimeState{Status: RuntimeOK, Text: "running 1/1"}},
		"health not known": {containers: []model.Pod{with(running, func(p *model.Pod) { p.Ready, p.Status, p.Message = false, "starting", "curl: refused" })},
			want: RuntimeState{Status: RuntimePending, Text: "starting 0/1", Err: "curl: refused", Span: span}},
		"done": {containers: []model.Pod{with(running, func(p *model.Pod) { p.Phase, p.Status, p.Ready, p.Engine = "Succeeded", "Completed", false, "exited" })},
			want: RuntimeState{Status: RuntimeOK, Text: "completed"}},
		"failed": {containers: []model.Pod{with(running, func(p *model.Pod) { p.Phase, p.Status, p.Ready = "Failed", "exited with code 3", false })},
			want: RuntimeState{Status: RuntimeError, Text: "exited with code 3", Err: "container a-1: exited with code 3", Final: true, Span: span}},
		"failed before the update": {started: time.Unix(20, 0), containers: []model.Pod{with(running, func(p *model.Pod) {
			p.Phase, p.Status, p.Ready, p.Containers[0].StartedAt = "Failed", "exited with code 3", false, time.Unix(10, 0)
		})}, want: RuntimeState{Status: RuntimePending, Text: "starting", Err: "container a-1 is starting"}},
		"failed after the update": {started: time.Unix(20, 0), containers: []model.Pod{with(running, func(p *model.Pod) {
			p.Phase, p.Status, p.Ready, p.Containers[0].StartedAt = "Failed", "exited with code 3", false, time.Unix(20, 0)
		})}, want: RuntimeState{Status: RuntimeError, Text: "exited with code 3", Err: "container a-1: exited with code 3", Final: true,
			Span: "pod:a-1/a:c1@1970-01-01T00:00:20Z"}},
		"replaced by the update": {started: time.Unix(20, 0), containers: []model.Pod{with(running, func(p *model.Pod) {
			p.UID, p.CreatedAt, p.Phase, p.Status, p.Ready = "c0", time.Unix(10, 0), "Failed", "exited with code 3", false
		})}, want: RuntimeState{Status: RuntimePending, Text: "no container", Err: "the service no longer has a container"}},
		"added by hand": {started: time.Unix(20, 0), containers: []model.Pod{running, with(running, func(p *model.Pod) {
			p.UID, p.CreatedAt = "c2", time.Unix(30, 0)
		})}, want: RuntimeState{Status: RuntimeOK, Text: "running 2/2"}},
		"restarted again and again": {containers: []model.Pod{with(running, func(p *model.Pod) {
			p.Status, p.Ready = "restarting (exit code 3)", false
			p.Containers[0].Reason, p.Containers[0].State, p.Containers[0].Restarts = model.ContainerRestarting, model.ContainerWaiting, 4
		})}, want: RuntimeState{Status: RuntimeError, Text: "restarting (exit code 3) ×4", Err: "container a-1: restarting (exit code 3)", Span: span}},
		"its process has ended under the synclet": {containers: []model.Pod{running},
			synclet: &state.Synclet{Resource: "a", Container: "a", Supervised: true, ExitCode: 2, Crashes: 1},
			want:    RuntimeState{Status: RuntimeError, Text: "exited 2", Final: true, Span: span}},
	} {
		t.Run(name, func(t *testing.T) {
			s := up(same, statetest.Compose("a")).Begin("a").
				Finish("a", func(b *state.BuildCompleted) {
					b.Deployed = true
					if !c.none {
						b.Applied = []model.AppliedObject{{UID: "c1", TemplateHash: "c1", StartedAt: c.started}}
					}
				})
			for _, p := range c.containers {
				p.Name, p.UID, p.Resource, p.TemplateHash = "a-1", cmp.Or(p.UID, "c1"), "a", "c1"
				p = with(p, func(p *model.Pod) {
					p.Containers[0].StartedAt = cmp.Or(p.Containers[0].StartedAt, c.started, time.Unix(10, 0))
				})
				s.Then(state.PodChanged{Pod: state.Pod{Pod: p, Current: true}})
			}
			if c.synclet != nil {
				s.Then(state.SyncletChanged{ID: "c1", Synclet: *c.synclet})
			}
			got := runtimeOf(s.View(), "a")
			if failing := !got.FailingSince.IsZero(); failing != (got.Status == RuntimeError) {
				t.Errorf("failing since %s", got.FailingSince)
			}
			got.FailingSince = time.Time{}
			if c.synclet != nil {
				got.Err = ""
			}
			if ofPod := got.Pod == "c1"; ofPod != (got.Span != "") {
				t.Errorf("its log is %q, and it is about pod %q", got.Span, got.Pod)
			}
			got.Pod = ""
			if diff := gocmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestComposeInPlace updates the containers of a service in place as in pods, but never the containers of an earlier update.
func TestComposeInPlace(t *testing.T) {
	m := statetest.Compose("a", statetest.Image("i"))
	m.Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src", RemotePath: "/app"}}}
	container := func(id string) store.Action {
		return state.PodChanged{Pod: state.Pod{Current: true, Pod: model.Pod{Name: "a-" + id, UID: id, Resource: "a", TemplateHash: id, Engine: "running", Phase: "Running",
			Containers: []model.Container{{Name: "a", ID: id, State: model.ContainerRunning, Image: "i:1"}}}}}
	}
	s := up(same, m).Then(container("old")).Begin("a").
		Finish("a", func(b *state.BuildCompleted) {
			b.Deployed, b.Applied = true, []model.AppliedObject{{UID: "new", TemplateHash: "new"}}
			b.Images = map[string]model.ImageResult{"i": {Local: "i:1", Cluster: "i:1", StartedAt: b.At}}
		})
	s.Then(container("new"), statetest.Change("i", "/src/x"))
	plan := Decide(s.View(), nil)
	if len(plan.Start) != 1 || !plan.Start[0].InPlace {
		t.Fatalf("plan: %+v", plan)
	}
	lacking := lanesIn(s.View(), "a").Lacking()
	if len(lacking) != 1 || lacking[0].ID != "new" {
		t.Errorf("containers that lack changes: %+v", lacking)
	}
}

// TestComposeAfterCrash: a container that has crashed keeps its files, so a mend goes into it while it stands. If a new image is needed
// nevertheless, it has to be replaced, even if the image is equal.
func TestComposeAfterCrash(t *testing.T) {
	m := statetest.Compose("a", statetest.Image("i"))
	m.Compose.ImageTarget = "i"
	m.Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src", RemotePath: "/app"}}}
	p := state.Pod{Current: true, Pod: model.Pod{Name: "a-1", UID: "c1", Resource: "a", TemplateHash: "c1", Engine: "running", Phase: "Running",
		Containers: []model.Container{{Name: "a", ID: "c1", State: model.ContainerRunning, Image: "i:1"}}}}
	s := up(same, m).Begin("a").Finish("a", func(b *state.BuildCompleted) {
		b.Deployed, b.Applied = true, []model.AppliedObject{{UID: "c1", TemplateHash: "c1"}}
		b.Images = map[string]model.ImageResult{"i": {Local: "i:1", Cluster: "i:1", StartedAt: b.At}}
	})
	s.Then(state.PodChanged{Pod: p}, statetest.Change("i", "/src/x")).Begin("a")
	s.Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced, b.Touched = "synclet", []string{"c1"}, []string{"c1"} })
	p.Phase, p.Status, p.Engine = "Failed", "exited with code 3", "exited"
	p.Containers = []model.Container{{Name: "a", ID: "c1", State: model.ContainerTerminated, ExitCode: 3, Image: "i:1"}}
	s.Then(state.PodChanged{Pod: p}, statetest.Change("i", "/src/x"))
	plan := Decide(s.View(), nil)
	lacking := lanesIn(s.View(), "a").Lacking()
	if len(plan.Start) != 1 || !plan.Start[0].InPlace || plan.Start[0].Absent != "" || len(lacking) != 1 || !lacking[0].Stopped {
		t.Errorf("plan: %+v, into %+v", plan, lacking)
	}
	if got := lanesIn(s.View(), "a").Overlaid(); len(got) != 1 || got[0].ID != "c1" {
		t.Errorf("containers that have to be replaced: %+v", got)
	}
}

// TestComposeStartsOnceMore lets a container crash that has got files while it ran. Its process may have begun without them: the container is
// started, once. That of a crash with the files, and of a container that was stopped by hand, is up to the user.
func TestComposeStartsOnceMore(t *testing.T) {
	m := statetest.Compose("a", statetest.Image("i"))
	m.Compose.ImageTarget = "i"
	m.Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src", RemotePath: "/app"}}}
	run := func(second int, code int) state.PodChanged {
		c := model.Container{Name: "a", ID: "c1", State: model.ContainerRunning, Image: "i:1", StartedAt: time.Unix(int64(second), 0), ExitCode: code}
		p := model.Pod{Name: "a-1", UID: "c1", Resource: "a", TemplateHash: "c1", Engine: "running", Phase: "Running"}
		if code != 0 {
			p.Phase, p.Status, p.Engine, c.State = "Failed", "exited", "exited", model.ContainerTerminated
		}
		p.Containers = []model.Container{c}
		return state.PodChanged{Pod: state.Pod{Current: true, Pod: p}}
	}
	copied := func(restarted time.Duration) func(*state.BuildCompleted) {
		return func(b *state.BuildCompleted) {
			b.Mode, b.Synced, b.Touched = "synclet", []string{"c1"}, []string{"c1"}
			b.Containers = []model.ContainerUpdate{{ID: "c1", Files: 1, Stages: model.Stages{Restarted: restarted}}}
		}
	}
	const again = "start a: container was behind (in place)"
	for name, tt := range map[string]struct {
		then func(s *statetest.State)
		want string
	}{
		"it crashes after the copy":   {func(s *statetest.State) { s.Begin("a").Finish("a", copied(0)).Then(run(1, 3)) }, again},
		"it crashes during the copy":  {func(s *statetest.State) { s.Begin("a").Then(run(1, 3)).Finish("a", copied(0)) }, again},
		"it has begun with the files": {func(s *statetest.State) { s.Begin("a").Finish("a", copied(time.Second)).Then(run(1, 3)) }, ""},
		"it has begun again":          {func(s *statetest.State) { s.Begin("a").Finish("a", copied(0)).Then(run(2, 0), run(2, 3)) }, ""},
		"it was stopped by hand":      {func(s *statetest.State) { s.Begin("a").Finish("a", copied(0)).Then(run(1, 143)) }, ""},
		"it was killed by hand":       {func(s *statetest.State) { s.Begin("a").Finish("a", copied(0)).Then(run(1, 137)) }, ""},
		"it crashes once more": {func(s *statetest.State) {
			s.Begin("a").Finish("a", copied(0)).Then(run(1, 3)).Begin("a").Then(run(2, 0)).Finish("a", copied(time.Second)).Then(run(2, 3))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := up(same, m).Begin("a").Finish("a", func(b *state.BuildCompleted) {
				b.Deployed, b.Applied = true, []model.AppliedObject{{UID: "c1", TemplateHash: "c1"}}
				b.Images = map[string]model.ImageResult{"i": {Local: "i:1", Cluster: "i:1", StartedAt: b.At}}
			})
			tt.then(s.Then(run(1, 0), statetest.Change("i", "/src/x")))
			if got := text(Decide(s.View(), nil)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestComposeByHand: a container that the user has created again from the same image, by another name, gets the copied files
// back.
func TestComposeByHand(t *testing.T) {
	m := statetest.Compose("a", statetest.Image("i"))
	m.Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src", RemotePath: "/app"}}}
	container := func(id, image, imageID string) store.Action {
		return state.PodChanged{Pod: state.Pod{Current: true, Pod: model.Pod{Name: "a-" + id, UID: id, Resource: "a", TemplateHash: id, Engine: "running", Phase: "Running",
			Containers: []model.Container{{Name: "a", ID: id, State: model.ContainerRunning, Image: image, ImageID: imageID}}}}}
	}
	s := up(same, m).Begin("a").Finish("a", func(b *state.BuildCompleted) {
		b.Deployed, b.Applied = true, []model.AppliedObject{{UID: "c1", TemplateHash: "c1"}}
		b.Images = map[string]model.ImageResult{"i": {Local: "i:1", Cluster: "i:1", ImageID: "sha256:1", StartedAt: b.At}}
	})
	s.Then(container("c1", "i:1", "sha256:1"), statetest.Change("i", "/src/x"))
	s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "synclet", []string{"c1"} })
	s.Then(state.PodGone{Pod: model.Pod{UID: "c1", Resource: "a"}}, container("c2", "shop-a", "sha256:1"))
	if got := text(Decide(s.View(), nil)); got != "start a: container started /src/x (in place)" {
		t.Errorf("from the same image: %s", got)
	}
	if r := runtimeOf(s.View(), "a"); r.Status == RuntimeError {
		t.Errorf("from the same image: %+v", r)
	}
	s.Then(state.PodGone{Pod: model.Pod{UID: "c2", Resource: "a"}}, container("c3", "shop-a", "sha256:2"))
	if got := text(Decide(s.View(), nil)); got != "" {
		t.Errorf("from another image: %s", got)
	}
	if r := runtimeOf(s.View(), "a"); r.Status != RuntimeError || r.Err != "container a-c3 runs shop-a, which is not the newest image of the service; a trigger replaces it" {
		t.Errorf("from another image: %+v", r)
	}
}
