package buildcontroller

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// tested are a resource api with an image, and a test t of it.
func tested() []model.Manifest {
	api, test := building("api"), statetest.Local("t")
	api.Images[0].LiveUpdate = model.LiveUpdate{}
	test.Local.Test, test.ResourceDeps = &model.Test{}, []model.ManifestName{"api"}
	return []model.Manifest{api, test}
}

func TestAChangeEndsTheRunOfATest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, tested()...)
		f.deploy("api")
		f.Then(statetest.Healthy("api"))
		f.running("t")
		f.builder.call("t").req.Commit()
		f.Then(statetest.Change("api", "/src/api/x"))
		f.running("api")
		if got, want := f.last("t"), `1 initial build err="" cancelled=true`; got != want {
			t.Errorf("the run: %s, want %s", got, want)
		}
		f.deploy("api")
		f.Then(statetest.Healthy("api"))
		f.running("t")
		own := state.FileChange{Target: statetest.Local("t").DeployID(), Paths: []string{"/src/t/x"}}
		f.Then(state.FilesChanged{Changes: []state.FileChange{own}})
		if got, want := f.last("t"), `2 initial build err="" cancelled=true`; got != want {
			t.Errorf("the second run: %s, want %s", got, want)
		}
		f.running("t")
	})
}

// world is a service whose source has revisions, and a test of it.
type world struct {
	*fixture
	random *rand.Rand
	// saved is the newest revision of the source, builds the one that the running build of the service has read, and deployed the one that
	// runs. All are also changed by builds as they begin.
	saved, builds, deployed int
	// judged are the revisions that ran when each run of the test began, and shown is the number of the verdicts that were seen.
	judged []int
	shown  int
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{fixture: start(t, Options{}), random: rand.New(rand.NewPCG(seed, 7)), judged: []int{0}}
	w.builder.begins = func(name string) {
		if name == "t" {
			w.judged = append(w.judged, w.deployed)
		} else {
			w.builds = w.saved
		}
	}
	w.Then(statetest.Loaded(tested()...))
	return w
}

// step does one thing at random, and may not wait for what that causes.
func (w *world) step() {
	switch n := w.random.IntN(10); {
	case n == 0:
		w.builder.mu.Lock()
		w.saved++
		w.builder.mu.Unlock()
		save := statetest.Change("api", fmt.Sprintf("/src/api/%d", w.random.IntN(3)))
		save.Made = time.Now()
		w.Dispatch(save)
	case n < 4:
		w.end("api", nil)
		w.Dispatch(statetest.Healthy("api"))
	case n == 4:
		w.end("api", errors.New("no"))
	case n < 8:
		w.end("t", nil)
	case n == 8:
		w.end("t", errors.New("failed"))
	default:
		unready := statetest.Healthy("api")
		unready.Objects[0].Health = model.HealthInProgress
		w.Dispatch(unready, statetest.Healthy("api"))
	}
	if w.random.IntN(2) == 0 {
		synctest.Wait()
	}
}

// end ends the running build of a resource, if one runs.
func (w *world) end(name string, err error) {
	c := w.builder.call(name)
	if c == nil {
		return
	}
	if name == "api" && err == nil {
		w.builder.mu.Lock()
		w.deployed = w.builds
		w.builder.mu.Unlock()
	}
	o := deployed(c)
	o.err = err
	select {
	case c.end <- o:
	case <-c.ctx.Done():
	}
}

// check looks for a verdict about another revision than the one that the snapshot knows as saved.
func (w *world) check(v store.View) {
	e := state.Resources.In(v).Ref("t")
	r := status.Of(v, state.UpdatingOf(v, e))
	if r.Last == nil {
		if r.UpdateErr != "" || r.State.Well() {
			w.t.Errorf("without a verdict, the test is %s %q", r.State, r.UpdateErr)
		}
		return
	}
	w.shown++
	w.builder.mu.Lock()
	defer w.builder.mu.Unlock()
	saved := len(state.Updates.In(v).Value("api").Saves)
	if is := w.judged[r.Last.Serial]; is != saved {
		w.t.Errorf("run %d judged revision %d, and its verdict is shown for revision %d", r.Last.Serial, is, saved)
	}
}

// TestNoVerdictOfAnotherRevision looks for verdicts about older revisions of a service in 100 orders of saves, builds, crashes and results.
func TestNoVerdictOfAnotherRevision(t *testing.T) {
	shown := 0
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed)
			for range 60 {
				w.step()
				w.check(w.View())
			}
			shown += w.shown
		})
	}
	if shown < 500 {
		t.Errorf("only %d verdicts were seen: the orders say little", shown)
	}
}
