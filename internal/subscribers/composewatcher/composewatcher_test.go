package composewatcher

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a ComposeWatcher at work on an engine in memory.
type fixture struct {
	*statetest.Alone
	t      *testing.T
	engine *dockertest.Fake
}

func start(t *testing.T, manifests ...model.Manifest) *fixture {
	f := &fixture{t: t, engine: dockertest.New()}
	f.Alone = statetest.Start(t, New(f.engine))
	f.Then(statetest.Session, statetest.Loaded(manifests...))
	return f
}

func (f *fixture) add(id, project, service string, s docker.ContainerState) {
	f.engine.AddContainer(id, dockertest.Container{Name: project + "-" + service, State: s,
		Labels: map[string]string{model.ComposeProjectLabel: project, model.ComposeServiceLabel: service}})
}

// want checks the table: by id, the resource and the status.
func (f *fixture) want(what string, want map[string]string) {
	f.t.Helper()
	synctest.Wait()
	got := map[string]string{}
	for e := range state.Pods.In(f.View()).Refs() {
		got[e.ID] = string(e.Value.Resource) + " " + e.Value.Status
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestFollowsContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.Compose("web"), statetest.Local("l"))
		f.want("none", map[string]string{})
		f.add("c1", "shop", "web", docker.ContainerState{})
		f.add("c2", "shop", "other", docker.ContainerState{})
		f.add("c3", "foreign", "web", docker.ContainerState{})
		f.engine.AddContainer("c4", dockertest.Container{Labels: map[string]string{model.ComposeProjectLabel: "shop",
			model.ComposeServiceLabel: "web", model.ComposeOneOffLabel: "True"}})
		f.want("one of ours", map[string]string{"c1": "web Running"})
		f.engine.ChangeContainer("c1", func(c *dockertest.Container) { c.State.Status, c.State.ExitCode = "exited", 3 })
		f.want("it has ended", map[string]string{"c1": "web exited with code 3"})
		f.Then(statetest.Loaded(statetest.Compose("web"), statetest.Compose("other")))
		f.want("another service", map[string]string{"c1": "web exited with code 3", "c2": "other Running"})
		f.engine.DropContainer("c1")
		f.want("it is gone", map[string]string{"c2": "other Running"})
		f.Then(statetest.Loaded(statetest.Local("l")))
		f.want("no service is left", map[string]string{})
	})
}

// TestRemovedByHand removes containers that were started last: they are lost unless others take their place in time.
func TestRemovedByHand(t *testing.T) {
	for _, tc := range []struct {
		name string
		act  func(f *fixture)
		lost []string
	}{
		{"one of two", func(f *fixture) { f.engine.DropContainer("c1") }, []string{"c1"}},
		{"both", func(f *fixture) { f.engine.DropContainer("c1"); f.engine.DropContainer("c2") }, []string{"c1", "c2"}},
		{"made again at once", func(f *fixture) { f.engine.DropContainer("c1"); f.add("c3", "shop", "web", docker.ContainerState{}) }, nil},
		{"made again before", func(f *fixture) { f.add("c3", "shop", "web", docker.ContainerState{}); f.engine.DropContainer("c1") }, nil},
		{"made again in time", func(f *fixture) {
			f.engine.DropContainer("c1")
			time.Sleep(graceOfRemoval / 2)
			f.add("c3", "shop", "web", docker.ContainerState{})
		}, nil},
		{"completed before", func(f *fixture) {
			f.engine.ChangeContainer("c1", func(c *dockertest.Container) { c.State.Status = "exited" })
			synctest.Wait()
			f.engine.DropContainer("c1")
		}, nil},
		{"stopped", func(f *fixture) {
			f.engine.ChangeContainer("c1", func(c *dockertest.Container) { c.State.Status = "exited" })
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, statetest.Compose("web"))
				f.add("c1", "shop", "web", docker.ContainerState{})
				f.add("c2", "shop", "web", docker.ContainerState{})
				synctest.Wait()
				f.Then(state.BuildStarted{Resource: "web", Serial: 1, At: f.View().At})
				f.Then(state.BuildCompleted{Resource: "web", Serial: 1, At: time.Now(), Mode: "compose", Deployed: true,
					Applied: []model.AppliedObject{{UID: "c1", TemplateHash: "c1"}, {UID: "c2", TemplateHash: "c2"}}})
				tc.act(f)
				synctest.Wait()
				time.Sleep(graceOfRemoval + pause)
				synctest.Wait()
				lost := slices.Sorted(maps.Keys(state.Updates.In(f.View()).Value("web").Lost))
				if diff := cmp.Diff(tc.lost, lost); diff != "" {
					t.Errorf("lost (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestRunsAgain has a container die and run again: how its last run ended is known as long as it runs.
func TestRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.Compose("web"))
		f.add("c1", "shop", "web", docker.ContainerState{Status: "running"})
		last := func(what string, code int, reason string) {
			t.Helper()
			synctest.Wait()
			c := state.Pods.In(f.View()).Value("c1").Containers[0]
			if c.LastExitCode != code || c.LastReason != reason {
				t.Errorf("%s: the last run ended with %d (%s), want %d (%s)", what, c.LastExitCode, c.LastReason, code, reason)
			}
		}
		set := func(status string, code, restarts int) {
			f.engine.ChangeContainer("c1", func(c *dockertest.Container) {
				c.State.Status, c.State.ExitCode, c.State.Restarts = status, code, restarts
			})
		}
		last("the first run", 0, "")
		set("restarting", 3, 1)
		last("between two runs", 0, "")
		set("running", 0, 1)
		last("the second run", 3, "Error")
		f.Then(state.EngineReported{Connected: true, Version: "2"})
		set("running", 0, 1)
		last("still", 3, "Error")
		set("exited", 4, 1)
		last("it has ended", 0, "")
		set("running", 0, 1)
		last("the third run", 4, "Error")
	})
}

// TestSurvivesTheEngine restarts the engine: the known state stays meanwhile, and changes made meanwhile are found.
func TestSurvivesTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.Compose("web"))
		f.add("c1", "shop", "web", docker.ContainerState{})
		f.want("running", map[string]string{"c1": "web Running"})
		for range 3 {
			f.engine.Fail("ContainerStates", f.engine.Unreachable())
			f.engine.Fail("WatchContainers", f.engine.Unreachable())
		}
		f.engine.Interrupt()
		f.want("the engine is away", map[string]string{"c1": "web Running"})
		f.engine.DropContainer("c1")
		f.add("c2", "shop", "web", docker.ContainerState{Status: "paused"})
		time.Sleep(10 * pause)
		f.want("it is back", map[string]string{"c2": "web paused"})
	})
}

// TestLeavesTheEngineAlone sends the engine no request before there is a service.
func TestLeavesTheEngineAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.Local("l"))
		f.engine.Fail("ContainerStates", errors.New("asked"))
		f.engine.Fail("WatchContainers", errors.New("asked"))
		f.Then(statetest.Loaded(statetest.Local("l"), statetest.Local("m")))
		synctest.Wait()
		if _, err := f.engine.ContainerStates(t.Context(), nil); err == nil {
			t.Error("the engine was asked")
		}
	})
}

func TestPodOf(t *testing.T) {
	at := time.Unix(100, 0)
	labels := map[string]string{model.ComposeServiceLabel: "web"}
	for name, c := range map[string]struct {
		in   docker.ContainerState
		want model.Pod
		ct   model.Container
	}{
		"running under the synclet": {in: docker.ContainerState{Status: "running", StartedAt: at, Entrypoint: []string{protocol.Path, "run", "--", "x"},
			Ports: []docker.PublishedPort{{HostIP: "127.0.0.1", HostPort: 8080, Port: 80, Protocol: "tcp"}}},
			want: model.Pod{Phase: "Running", Status: "Running", Ready: true,
				Published: []model.ComposePort{{HostIP: "127.0.0.1", Published: 8080, Target: 80, Protocol: "tcp"}}},
			ct: model.Container{State: model.ContainerRunning, Ready: true, StartedAt: at, SyncletPath: protocol.Path, Ports: []int{80}}},
		"not healthy": {in: docker.ContainerState{Status: "running", Health: "unhealthy", HealthLog: "refused"},
			want: model.Pod{Phase: "Running", Status: "unhealthy", Message: "refused", Health: "unhealthy"}, ct: model.Container{State: model.ContainerRunning}},
		"healthy": {in: docker.ContainerState{Status: "running", Health: "healthy"},
			want: model.Pod{Phase: "Running", Status: "Running", Ready: true, Health: "healthy"}, ct: model.Container{State: model.ContainerRunning, Ready: true}},
		"made": {in: docker.ContainerState{Status: "created"}, want: model.Pod{Phase: "Pending", Status: "created"}, ct: model.Container{State: model.ContainerWaiting}},
		"could not be started": {in: docker.ContainerState{Status: "created", Err: "no such program", ExitCode: 127},
			want: model.Pod{Phase: "Failed", Status: "created", Message: "no such program"},
			ct:   model.Container{State: model.ContainerWaiting, Message: "no such program", ExitCode: 127}},
		"done":   {in: docker.ContainerState{Status: "exited"}, want: model.Pod{Phase: "Succeeded", Status: "Completed"}, ct: model.Container{State: model.ContainerTerminated, Reason: "Completed"}},
		"failed": {in: docker.ContainerState{Status: "exited", ExitCode: 2}, want: model.Pod{Phase: "Failed", Status: "exited with code 2"}, ct: model.Container{State: model.ContainerTerminated, Reason: "Error", ExitCode: 2}},
		"out of memory": {in: docker.ContainerState{Status: "exited", ExitCode: 137, OOMKilled: true}, want: model.Pod{Phase: "Failed", Status: "OOMKilled"},
			ct: model.Container{State: model.ContainerTerminated, Reason: "OOMKilled", ExitCode: 137}},
		"again and again": {in: docker.ContainerState{Status: "restarting", ExitCode: 1, Restarts: 3}, want: model.Pod{Phase: "Running", Status: "restarting (exit code 1)"},
			ct: model.Container{State: model.ContainerWaiting, Reason: model.ContainerRestarting, ExitCode: 1, Restarts: 3}},
		"going": {in: docker.ContainerState{Status: "removing"}, want: model.Pod{Phase: "Running", Status: "removing", Deleting: true}, ct: model.Container{State: model.ContainerTerminated}},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.ID, c.in.Name, c.in.Image, c.in.Labels, c.in.CreatedAt = "c1", "shop-web-1", "web:1", labels, at
			c.ct.Name, c.ct.ID, c.ct.Image, c.ct.Runtime = "web", "c1", "web:1", "docker"
			c.want.Name, c.want.UID, c.want.TemplateHash, c.want.Resource, c.want.CreatedAt = "shop-web-1", "c1", "c1", "r", at
			c.want.Engine, c.want.Containers = c.in.Status, []model.Container{c.ct}
			if diff := cmp.Diff(c.want, podOf("r", c.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
