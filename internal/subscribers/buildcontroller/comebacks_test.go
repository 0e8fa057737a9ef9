package buildcontroller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// inBackOff is the pod of resource a, whose container has crashed twice.
func inBackOff() state.PodChanged {
	a := statetest.Pod("a", "p", "c1", "a:1")
	a.Pod.Ready = false
	c := &a.Pod.Containers[0]
	c.State, c.Reason, c.Message, c.Restarts = model.ContainerWaiting, "CrashLoopBackOff", "back-off 10s restarting failed container=main", 2
	return a
}

// TestComebacks lets a container end while it is updated: the update waits for its next start, which is no failure, and says so. It brings
// the files to the next run, or asks for a new image if there is none in time.
func TestComebacks(t *testing.T) {
	for name, tt := range map[string]struct {
		then   func(f *fixture)
		absent string
		to     string // the container that is updated
	}{
		"it starts again":         {then: func(f *fixture) { f.Then(statetest.Pod("a", "p", "c2", "a:1")) }, to: "c2"},
		"it does not start again": {then: func(*fixture) { time.Sleep(26 * time.Second) }, absent: "container main of pod p has crashed and does not start again"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
				f.deploy("a")
				f.Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x"))
				f.finish("a", outcome{result: buildanddeploy.Result{Mode: "synclet", Synced: []string{"c1"}, Touched: []string{"c1"}}})
				f.Then(statetest.Change("a", "/src/a/x"))
				f.running("a")
				f.Then(inBackOff())
				f.finish("a", outcome{result: buildanddeploy.Result{Mode: "synclet", Touched: []string{"c1"}}, err: &buildanddeploy.Gone{Reason: "container main ended (exit code 3)"}})
				f.running("")
				if got, want := f.last("a"), `3 files changed err="" cancelled=true`; got != want {
					t.Errorf("%s, want %s", got, want)
				}
				said := strings.Join(statetest.Texts(f.logs, "a"), "\n")
				for _, want := range []string{
					"Interrupted: container main ended (exit code 3) while it was being updated; its replacement gets the change",
					"1 File Changed: [a/x]; the update waits for container main to start again: it is in back-off for 10s",
				} {
					if strings.Count(said, want) != 1 {
						t.Errorf("the log does not say once %q:\n%s", want, said)
					}
				}
				tt.then(f)
				synctest.Wait()
				f.running("a")
				if f.builder.call("a") == nil {
					t.Fatal("no update")
				}
				req := f.builder.call("a").req
				var to []string
				for _, c := range req.Containers {
					to = append(to, c.ID)
				}
				if got := strings.Join(to, " "); got != tt.to || req.Absent != tt.absent || !req.InPlace {
					t.Errorf("to %q, absent %q, in place %v", got, req.Absent, req.InPlace)
				}
				f.finish("a", outcome{})
			})
		})
	}
}
