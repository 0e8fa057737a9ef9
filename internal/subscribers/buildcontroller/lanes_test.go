package buildcontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// updater is a liveupdate.Updater in which the updates of slow containers end when the test says so.
type updater struct {
	mu   sync.Mutex
	slow map[string]chan error
	done map[string][]string // by container, the files that arrived, in order
	busy map[string]bool
	fail map[string]error
	// several lets a container have several updates at once. begun are the updates that are on their way or have
	// arrived, in the order of the beginnings.
	several bool
	begun   string
}

func (u *updater) Update(ctx context.Context, c model.ContainerRef, p liveupdate.Plan, _ logstore.Logger) (liveupdate.Report, error) {
	u.mu.Lock()
	if u.busy[c.ID] && !u.several {
		panic(c.ID + " gets two updates at once")
	}
	u.busy[c.ID] = true
	u.begun = strings.TrimPrefix(u.begun+", "+strings.Join(p.Deletes, " "), ", ")
	wait, err := u.slow[c.ID], u.fail[c.ID]
	u.mu.Unlock()
	if wait != nil {
		select {
		case err = <-wait:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.busy[c.ID] = false
	if err == nil || liveupdate.Classify(err) == liveupdate.UserError {
		u.done[c.ID] = append(u.done[c.ID], strings.Join(p.Deletes, " "))
	}
	return liveupdate.Report{Deletes: len(p.Deletes), Applied: time.Now()}, err
}

// imageWay is the fixture's builder as the last of a chain.
type imageWay struct{ *builder }

func (imageWay) Name() string { return "image" }

// replicas starts a BuildController whose only resource, a, is deployed in the given containers.
func replicas(t *testing.T, ids ...string) (*fixture, *updater) {
	u := &updater{slow: map[string]chan error{}, done: map[string][]string{}, busy: map[string]bool{}, fail: map[string]error{}}
	f := &fixture{t: t, builder: &builder{running: map[string]*call{}}, logs: statetest.Logs(t)}
	chain := buildanddeploy.NewComposite(buildanddeploy.NewSynclet(u), imageWay{f.builder})
	f.Alone = statetest.Start(t, New(chain, f.logs, Options{}), "Other")
	f.Then(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("a", statetest.Image("a"))))
	f.Then(statetest.Connected()...)
	f.deploy("a")
	for _, id := range ids {
		f.Then(statetest.Pod("a", "pod-"+id, id, "a:1"))
	}
	return f, u
}

func (u *updater) got(id string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.Join(u.done[id], ", ")
}

// save changes a file, and gives the update the time to leave a container behind.
func (f *fixture) save(name string) {
	f.Then(statetest.Change("a", "/src/a/"+name))
	time.Sleep(time.Second)
	synctest.Wait()
}

func (f *fixture) behind() string {
	var ids []string
	for id, c := range f.update("a").Lanes {
		if c.Sending != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func (f *fixture) end(u *updater, id string, err error) {
	u.mu.Lock()
	wait := u.slow[id]
	u.mu.Unlock()
	wait <- err
	time.Sleep(time.Second)
	synctest.Wait()
}

func TestASlowContainerHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, u := replicas(t, "c1", "c2", "c3")
		u.slow["c3"] = make(chan error)
		var all []string
		for i := range 50 {
			f.save(fmt.Sprint(i))
			all = append(all, fmt.Sprintf("/app/%d", i))
			if f.behind() != "c3" {
				t.Fatalf("after save %d %q is behind", i, f.behind())
			}
		}
		for _, id := range []string{"c1", "c2"} {
			if d := cmp.Diff(strings.Join(all, ", "), u.got(id)); d != "" {
				t.Errorf("%s got (-want +got):\n%s", id, d)
			}
		}
		f.end(u, "c3", nil)
		if got := u.got("c3"); got != "/app/0" || f.behind() != "c3" {
			t.Errorf("the slow one got %q, %q is behind", got, f.behind())
		}
		rest := slices.Clone(all[1:])
		slices.Sort(rest)    // files saved meanwhile come at once
		slices.Reverse(rest) // of files that are gone, the deeper ones come first
		f.end(u, "c3", nil)
		if d := cmp.Diff("/app/0, "+strings.Join(rest, " "), u.got("c3")); d != "" || f.behind() != "" {
			t.Errorf("in the end %q is behind; the slow one got (-want +got):\n%s", f.behind(), d)
		}
		b := f.update("a").Builds[len(f.update("a").Builds)-1]
		if b.Serial != f.update("a").Serial-19 { // as many are kept
			t.Errorf("oldest build: %+v", b)
		}
		f.running("")
	})
}

func TestLaggingEnd(t *testing.T) {
	user := &liveupdate.RunStepError{Cmd: model.Cmd{Argv: []string{"make"}}, Code: 2}
	synctest.Test(t, func(t *testing.T) {
		t.Log("the user's command fails in the slow one only: they get a new image")
		f, u := replicas(t, "c1", "c2")
		u.slow["c2"] = make(chan error)
		f.save("x")
		f.end(u, "c2", user)
		f.running("a")
		if req := f.builder.call("a").req; req.InPlace || !req.Dirty["a"] {
			t.Errorf("the new image: %+v", req)
		}
		f.deploy("a")
		f.running("")
	})
	synctest.Test(t, func(t *testing.T) {
		t.Log("the user's command fails everywhere: that is shown, and nothing falls back")
		f, u := replicas(t, "c1", "c2")
		u.slow["c2"], u.fail["c1"] = make(chan error), user
		f.save("x")
		f.end(u, "c2", user)
		f.running("")
		b := f.update("a").Builds[0]
		if !strings.Contains(b.Err, "exit code 2") || !strings.Contains(b.Containers[1].Err, "exit code 2") || b.Containers[1].Behind {
			t.Errorf("the build: %+v", b)
		}
		if text := strings.Join(statetest.Texts(f.logs, "a"), "\n"); !strings.Contains(text, "Update of pod-c2 failed: ") {
			t.Errorf("the log:\n%s", text)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		t.Log("the way breaks: it is tried once more, waiting, and then an image is built")
		f, u := replicas(t, "c1", "c2")
		u.slow["c2"] = make(chan error)
		f.save("x")
		broken := &liveupdate.InfraError{Step: "copy", Err: errors.New("broken pipe")}
		f.end(u, "c2", broken)
		f.running("")
		if f.update("a").Current == nil || f.behind() != "" {
			t.Errorf("the second attempt: %+v, behind %q", f.update("a").Current, f.behind())
		}
		f.end(u, "c2", broken)
		f.running("a")
		f.deploy("a")
		f.running("")
	})
	synctest.Test(t, func(t *testing.T) {
		t.Log("the container goes: its update is called off, and nothing is tried again")
		f, u := replicas(t, "c1", "c2")
		u.slow["c2"] = make(chan error)
		f.save("x")
		p := statetest.Pod("a", "pod-c2", "c2", "a:1")
		p.Pod.Deleting = true
		f.Then(p)
		synctest.Wait()
		if f.behind() != "" || f.update("a").Current != nil || u.busy["c2"] {
			t.Errorf("behind: %q, build: %+v", f.behind(), f.update("a").Current)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		t.Log("the resource goes: it is let go only once the update has ended")
		f, u := replicas(t, "c1", "c2")
		u.slow["c2"] = make(chan error)
		f.save("x")
		f.Then(statetest.Loaded())
		synctest.Wait()
		if got := leaving(f, "a"); got != "tearing-down [Other]" || u.busy["c2"] {
			t.Errorf("%s, busy %v", got, u.busy)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		t.Log("hone stops: nothing goes on")
		f, u := replicas(t, "c1", "c2")
		u.slow["c2"] = make(chan error)
		f.save("x")
		f.Stop()
		if u.busy["c2"] {
			t.Error("the update keeps running")
		}
	})
}
