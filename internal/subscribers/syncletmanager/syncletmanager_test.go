package syncletmanager

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/synclet"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pool records the containers to keep.
type pool struct {
	mu      sync.Mutex
	home    synclet.Home
	kept    []model.ContainerRef
	told    func(synclet.Status)
	changed chan struct{}
}

func (p *pool) SetHomes(h map[string]synclet.Home) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.home = h[""]
}

func (p *pool) where() synclet.Home {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.home
}

func (p *pool) Keep(targets []model.ContainerRef) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = targets
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// await waits until the pool has to keep the containers ids.
func (p *pool) await(t *testing.T, want string) {
	t.Helper()
	for late := time.After(time.Minute); p.ids() != want; {
		select {
		case <-p.changed:
		case <-late:
			t.Fatalf("it keeps\n%s, want\n%s", p.ids(), want)
		}
	}
}

func (p *pool) OnStatus(fn func(synclet.Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = fn
}

func (p *pool) ids() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, t := range p.kept {
		out = append(out, fmt.Sprintf("%s %s/%s %s %s", t.ID, t.Pod, t.Name, t.Image, t.Syncs[0].RemotePath))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

type fixture struct {
	*statetest.Alone
	pool *pool
	logs *logstore.Store
}

// start runs the manager in a state with a deployed resource.
func start(t *testing.T, mode model.UpdateMode) *fixture {
	f := &fixture{pool: &pool{changed: make(chan struct{}, 1)}, logs: statetest.Logs(t)}
	f.Alone = statetest.Start(t, New(f.pool, f.logs), "Other")
	session := statetest.Session
	session.Session.UpdateMode = mode
	f.Dispatch(session, state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("a", statetest.Image("a")), statetest.K8s("b")))
	f.Dispatch(statetest.Connected()...)
	f.Dispatch(state.BuildStarted{Resource: "a", Serial: 1, At: time.Now()})
	f.Dispatch(state.BuildCompleted{Resource: "a", Serial: 1, At: time.Now(), Deployed: true,
		Images: map[string]model.ImageResult{"a": {Cluster: "a:1"}}})
	return f
}

func TestKeepsWhatCanBeUpdated(t *testing.T) {
	f := start(t, model.UpdateAuto)
	f.Dispatch(statetest.Pod("a", "p1", "c1", "a:1"), statetest.Pod("a", "p2", "c2", "a:1"), statetest.Pod("a", "p3", "c3", "other"))
	f.pool.await(t, "c1 p1/main a:1 /app\nc2 p2/main a:1 /app")
	if diff := cmp.Diff(synclet.Home{Cluster: state.TheCluster(f.View()).Cluster}, f.pool.where()); diff != "" || f.pool.where().Cluster.Context == "" {
		t.Errorf("where the containers run (-want +got):\n%s", diff)
	}

	f.pool.told(synclet.Status{Container: f.pool.kept[0], State: synclet.Ready, Way: synclet.WayShell})
	id := f.pool.kept[0].ID
	f.Until("the table to show it", func(v store.View) bool {
		return state.Synclets.In(v).Value(id) == state.Synclet{Resource: "a", Namespace: "default", Pod: f.pool.kept[0].Pod,
			Container: "main", State: "ready", Way: "shell"}
	})
	gone := statetest.Pod("a", "p1", "c1", "a:1").Pod.Pod
	f.Dispatch(state.SyncletChanged{ID: "c1", Synclet: state.Synclet{Resource: "a"}}, state.PodGone{Pod: gone})
	f.Until("the entry to go with the pod", func(v store.View) bool {
		there := state.Synclets.In(v).Ref("c1") != nil
		return !there
	})
	f.pool.await(t, "c2 p2/main a:1 /app")
	f.Stop()
	if f.pool.ids() != "" {
		t.Errorf("after the end it keeps %s", f.pool.ids())
	}
}

// TestOtherModes: if updates go another way, or there are none, no program is put into containers.
func TestOtherModes(t *testing.T) {
	once := start(t, model.UpdateAuto)
	ci := statetest.Session
	ci.Session.Command = state.CommandCI
	once.Dispatch(statetest.Pod("a", "p1", "c1", "a:1"), ci)
	once.Until("the session to be one of ci", func(v store.View) bool { return state.TheSession(v).Command == state.CommandCI })
	if got := desired(once.View()); got != nil {
		t.Errorf("in ci: %v", got)
	}
	for _, mode := range []model.UpdateMode{model.UpdateImage, model.UpdateNaive, model.UpdateExec, model.UpdateContainer} {
		f := start(t, mode)
		f.Dispatch(statetest.Pod("a", "p1", "c1", "a:1"))
		if got := desired(f.View()); got != nil {
			t.Errorf("%s: %v", mode, got)
		}
	}
}

func TestReports(t *testing.T) {
	f := start(t, model.UpdateSynclet)
	f.Dispatch(statetest.Pod("a", "p1", "c1", "a:1"))
	f.pool.await(t, "c1 p1/main a:1 /app")
	target := f.pool.kept[0]
	for i, tt := range []struct {
		status synclet.Status
		says   string
	}{
		{synclet.Status{Container: target, State: synclet.Failed, Err: errors.New("no shell")}, "Updating main in place takes longer: no shell"},
		{synclet.Status{Container: target, State: synclet.Ready, Way: synclet.WayTar}, "Ready to update main in place"},
		{synclet.Status{Container: target, State: synclet.Broken, Way: synclet.WayTar, Err: fmt.Errorf("%w: no sign of it for 20s", synclet.ErrSilent)},
			"WARNING: lost the connection to main of pod p1, reconnecting: the synclet stopped answering: no sign of it for 20s"},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 1, Code: 3, Crashes: 1, AgainNanos: 1e10}},
			"The process in main ended with exit code 3; the next change restarts it, or else it is tried again after 10s"},
		{synclet.Status{Container: target, State: synclet.Broken, Process: protocol.Process{Starts: 1, Code: 3}}, ""},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 2, Running: true, Code: 3}}, "The process in main runs again"},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 2, Running: true, Code: 3}}, ""},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 2, Code: 3, Crashes: 2}},
			"The process in main ended with exit code 3, 2 times in a row; the next change restarts it"},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 3, Running: true}}, "The process in main runs again"},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 3, Running: true, Ending: true}}, ""},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 3, Code: 143, Ending: true}},
			"The process in main ended with exit code 143, and its container ends with it"},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 4, Running: true}}, "The process in main runs again"},
		{synclet.Status{Container: target, State: synclet.Ready, Process: protocol.Process{Starts: 4, Code: 3, Crashes: 2}},
			"The process in main ended with exit code 3, 2 times in a row; the next change restarts it"},
	} {
		before := len(statetest.Texts(f.logs, "a"))
		f.pool.told(tt.status)
		var got string
		if said := statetest.Texts(f.logs, "a"); len(said) > before {
			got = strings.Join(said[before:], "\n")
		}
		if got != tt.says {
			t.Errorf("%d: the log says %q, want %q", i, got, tt.says)
		}
		f.pool.told(synclet.Status{Container: target, State: synclet.Broken, Err: errors.New("connection refused"), // it passes
			Process: tt.status.Process})
	}
	f.Until("the table to show the end of the process and of the conversation", func(v store.View) bool {
		s := state.Synclets.In(v).Value("c1")
		return s.State == "broken" && strings.Contains(s.Err, "refused") && s.Supervised && !s.Running && s.ExitCode == 3 && s.Crashes == 2
	})
}

// TestReportsOnce: what the pods of each new image meet is reported once, and again after a change in between.
func TestReportsOnce(t *testing.T) {
	f := start(t, model.UpdateSynclet)
	f.Dispatch(statetest.Pod("a", "p1", "c1", "a:1"))
	f.pool.await(t, "c1 p1/main a:1 /app")
	target := f.pool.kept[0]
	for _, st := range []struct {
		pod   string
		state synclet.State
	}{{"p1", synclet.Failed}, {"p1", synclet.Starting}, {"p1", synclet.Failed}, {"p2", synclet.Failed}, {"p2", synclet.Ready}, {"p3", synclet.Failed}, {"p3", synclet.Ready}, {"p4", synclet.Ready}} {
		target.Pod = st.pod
		f.pool.told(synclet.Status{Container: target, State: st.state, Way: synclet.WayShell,
			Err: problem.Wrap(errors.New("pods "+st.pod+" is forbidden"), "not allowed to run commands in the pod", "ask")})
	}
	want := []string{
		"Updating main in place takes longer: not allowed to run commands in the pod: pods p1 is forbidden", "  ask",
		"Ready to update main in place",
		"Updating main in place takes longer: not allowed to run commands in the pod: pods p3 is forbidden", "  ask",
		"Ready to update main in place",
	}
	if said := statetest.Texts(f.logs, "a"); strings.Join(said, "|") != strings.Join(want, "|") {
		t.Errorf("the log says %q, want %q", said, want)
	}
}
