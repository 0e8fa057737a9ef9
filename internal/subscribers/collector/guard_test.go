package collector

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestAChoiceLeavesOthersAlone runs one of several resources: undeclared objects of others stay, whether they were left by earlier
// sessions or while this one runs, until the session is about all of them.
func TestAChoiceLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old", "a", "b")
		f.record(nil, "db")
		loaded := func(enabled []model.ManifestName, manifests ...model.Manifest) state.TiltfileLoaded {
			l := statetest.Loaded(manifests...)
			l.Result.Enabled = enabled
			return l
		}
		some := []model.ManifestName{"a"}
		f.Then(connected(), loaded(some, statetest.K8s("a"), statetest.K8s("b")))
		f.check("it runs a", "", "a")
		if c := state.TheSession(f.View()).Collection; !c.Done {
			t.Errorf("it has nothing to delete: %+v", c)
		}
		f.Then(loaded(some, statetest.K8s("a")))
		f.Release("b", "Other")
		f.check("b has left, which it does not run", "", "a")
		f.Then(loaded(some))
		f.Release("a", "Other")
		f.check("a has left", "a", "")
		f.Then(loaded(nil, statetest.K8s("c")))
		synctest.Wait()
		if got := strings.Split(f.cluster.log(), " "); len(got) != 6 || !slices.Contains(got, "old") || !slices.Contains(got, "b") || !slices.Contains(got, "db") {
			t.Errorf("it runs all: removed %q", got)
		}
	})
}

// TestPruneGuardWaitsForTheUser says while the prune guard holds, looks again with each Tiltfile, and deletes when the user asks for it, once.
func TestPruneGuardWaitsForTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		says := func(what, want string) {
			t.Helper()
			synctest.Wait()
			if got := state.TheSession(f.View()).PruneGuard.Why; got != want {
				t.Errorf("%s: it says %q, want %q", what, got, want)
			}
		}
		f.Then(connected(), statetest.Loaded(statetest.K8s("a")))
		says("nothing is kept", "")
		f.cluster.guard("6 of 8")
		f.Then(statetest.Loaded())
		f.Release("a", "Other")
		says("much is kept", "6 of 8")
		f.check("the resource is let go", "", "")
		f.cluster.guard("7 of 8")
		f.Then(statetest.Loaded())
		says("the next Tiltfile", "7 of 8")
		f.cluster.fail(errors.New("timeout"))
		f.Then(state.PruneAllowed{})
		f.check("it is asked for", "all but 0", "")
		says("it has failed", "7 of 8")
		time.Sleep(time.Hour)
		f.check("only once", "all but 0", "")
		f.cluster.fail(nil)
		f.Then(state.PruneAllowed{})
		f.check("it is asked for again", "all but 0 all but 0", "")
		says("nothing is kept any more", "")
	})
}

// TestKeepsMuchAtOnce takes many resources out of the Tiltfile: that they are kept is decided and said once, not for each of them.
func TestKeepsMuchAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		var all []model.Manifest
		for i := range 180 {
			all = append(all, statetest.K8s(fmt.Sprint("r", i)))
			f.cluster.kept = append(f.cluster.kept, all[i].Name)
		}
		f.Then(connected(), statetest.Loaded(all...))
		synctest.Wait()
		f.cluster.guard("180 of 200 objects would be deleted")
		f.cluster.mu.Lock()
		before := f.cluster.asked
		f.cluster.mu.Unlock()
		f.Then(statetest.Loaded())
		for _, m := range all {
			f.Release(string(m.Name), "Other")
		}
		f.check("they are let go", "", "")
		f.cluster.mu.Lock()
		defer f.cluster.mu.Unlock()
		if asked := f.cluster.asked - before; asked != 1 {
			t.Errorf("that was decided %d times", asked)
		}
		text := statetest.Texts(f.logs, "")
		if want := "The objects of 180 resources, which the Tiltfile no longer declares, are kept: 180 of 200 objects would be deleted"; len(text) != 1 || !strings.Contains(text[0], want) {
			t.Errorf("log: %q, want %q once", text, want)
		}
	})
}

// TestAsksBeforeItDeletes: in a session that asks, resources that left the Tiltfile stay until the user has agreed after that, and
// leftovers of earlier sessions stay until the user has agreed at all. A resource that the user switches off goes at once.
func TestAsksBeforeItDeletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old")
		session := statetest.Session
		session.Session.Confirmation.Asked = true
		held := func(want ...model.ManifestName) {
			t.Helper()
			if got := state.TheSession(f.View()).Confirmation.Leaving; !slices.Equal(got, want) {
				t.Errorf("%v wait for the user, want %v", got, want)
			}
		}
		f.Then(session, connected(), statetest.Loaded(statetest.K8s("a"), statetest.K8s("b"), statetest.K8s("c"), statetest.Local("l")))
		f.check("nobody has agreed", "", "a b c l")
		f.Then(state.ChangesConfirmed{})
		f.check("what an earlier session has left", "old", "a b c l")
		f.Then(statetest.Loaded(statetest.K8s("b"), statetest.K8s("c")))
		f.Release("a", "Other")
		f.Release("l", "Other")
		f.check("they wait", "old", "b c a l")
		held("a", "l")
		f.Then(state.ResourcesSwitched{Off: []model.ManifestName{"c"}})
		f.Release("c", "Other")
		f.check("the user has asked for it", "old c", "b a l")
		f.Then(state.ChangesConfirmed{})
		f.check("the user has agreed", "old c a", "b")
		held()
		f.Then(statetest.Loaded())
		f.Release("b", "Other")
		f.check("to that, and not to this", "old c a", "b")
		held("b")
		f.Then(statetest.Loaded(statetest.K8s("b")))
		f.check("it came back", "old c a", "b")
		held()
	})
}
