package eventwatcher

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
)

// recordedOf returns the table's events about web, newest first.
func recordedOf(f *tale) (out []string) {
	for _, e := range state.ClusterEvents.In(f.View()).Value("web").List {
		out = append(out, fmt.Sprintf("%s %s/%s ×%d", e.Reason, e.Object.Kind, e.Object.Name, e.Count))
	}
	return out
}

// TestRecords checks that events are kept as well that are not worth a line in the log, or that are older than the session,
// but none about objects of others.
func TestRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTale(t)
		add := func(reason, object, uid string, age time.Duration) {
			f.cluster.AddEvent(k8s.KubeEvent{UID: reason + uid, Type: "Normal", Reason: reason, Message: reason, ObjectUID: uid, Count: 1,
				FirstSeen: time.Now().Add(-age), LastSeen: time.Now().Add(-age), Object: k8s.KubeEventObject{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: object, FieldPath: "spec.containers{main}"}})
		}
		add("Created", "p", "uid-p", 20*time.Minute)
		add("Created", "foreign", "uid-f", time.Minute)
		f.deployed()
		check := func(what string, want ...string) {
			t.Helper()
			time.Sleep(recordEvery) // until the next record is due
			synctest.Wait()
			if diff := cmp.Diff(want, recordedOf(f)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		check("the pod is not known yet")
		f.pod(func(*state.Pod) {})
		check("the pod is known", "Created Pod/p ×1")
		add("Started", "p", "uid-p", 0)
		check("what is not worth a line in the log", "Started Pod/p ×1", "Created Pod/p ×1")
		f.pod(func(p *state.Pod) { p.Current = false })
		add("Killing", "p", "uid-p", 0)
		check("a pod of an older deploy", "Killing Pod/p ×1", "Started Pod/p ×1", "Created Pod/p ×1")
		e := state.ClusterEvents.In(f.View()).Value("web")
		if got := e.List[0]; got.Container != "main" || got.Object.Group != "" || got.ObjectUID != "uid-p" || got.Warning {
			t.Errorf("recorded as %+v", got)
		}
		time.Sleep(waitForOwner)
		add("Pulled", "unknown", "uid-u", 0)
		synctest.Wait()
		f.Then(statetest.Pod("web", "f", "d", "i"))
		check("an event does not wait for ever", "Killing Pod/p ×1", "Started Pod/p ×1", "Created Pod/p ×1")
	})
}

// TestFloodOfEvents checks that many events make few records.
func TestFloodOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTale(t)
		f.deployed()
		f.pod(func(*state.Pod) {})
		synctest.Wait()
		before := uint64(0)
		if e := state.ClusterEvents.In(f.View()).Ref("web"); e != nil {
			before = e.Version
		}
		for i := range 1000 {
			f.cluster.AddEvent(k8s.KubeEvent{UID: fmt.Sprint("e", i%100), Type: "Normal", Reason: "Flood", ObjectUID: "uid-p", Count: 1 + i/100, LastSeen: time.Now(),
				Object: k8s.KubeEventObject{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "p"}})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(recordEvery)
		synctest.Wait()
		e := state.ClusterEvents.In(f.View()).Ref("web")
		if writes := e.Version - before; writes == 0 || writes > 6 {
			t.Errorf("1,000 events in a second were written in %d steps", writes)
		}
		if got := e.Value.List; len(got) != state.KeptKubeEvents || got[0].Count != 10 {
			t.Errorf("kept %d, the newest happened %d times", len(got), got[0].Count)
		}
	})
}
