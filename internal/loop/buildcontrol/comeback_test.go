package buildcontrol

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// crashed is the pod of a resource whose container has ended, as changed by change.
func crashed(change func(*model.Pod, *model.Container)) state.PodChanged {
	a := statetest.Pod("a", "p", "c1", "a:1")
	p := &a.Pod.Pod
	p.Ready, p.Status = false, "Error"
	c := &p.Containers[0]
	c.State, c.Reason, c.ExitCode = model.ContainerTerminated, "Error", 3
	if change != nil {
		change(p, c)
	}
	return a
}

func backOff(pause string) state.PodChanged {
	return crashed(func(p *model.Pod, c *model.Container) {
		p.Status, c.State, c.Reason, c.ExitCode, c.Restarts = "CrashLoopBackOff", model.ContainerWaiting, "CrashLoopBackOff", 0, 2
		c.Message = "back-off " + pause + " restarting failed container=main pod=p_default(12)"
	})
}

// overdue reports that the pod does not start again in time, as BuildController does.
func overdue(s *statetest.State) {
	if due, _ := NextDue(s.View()); due != nil {
		s.Then(due)
	}
}

// TestComeback saves a mend for a container that has crashed: the update waits for a container that the kubelet starts again
// soon, if that helps, and otherwise says why it needs a new image.
func TestComeback(t *testing.T) {
	const (
		waits  = "hold a: waits for container main to start again"
		pauses = "hold a: waits for container main to start again: it is in back-off for "
		image  = "start a: container main of pod p "
	)
	running := statetest.Pod("a", "p", "c2", "a:1")
	for name, tt := range map[string]struct {
		change   func(*model.Manifest)
		fresh    bool // no update in place has reached the container
		then     []store.Action
		overdue  bool
		overdue2 []store.Action // follow that
		want     string
	}{
		"it has just ended":                 {then: []store.Action{crashed(nil)}, want: waits},
		"its memory ran out":                {then: []store.Action{crashed(func(_ *model.Pod, c *model.Container) { c.ExitCode, c.Reason = 0, "OOMKilled" })}, want: waits},
		"back-off":                          {then: []store.Action{crashed(nil), backOff("10s")}, want: pauses + "10s"},
		"the next back-off":                 {then: []store.Action{backOff("20s")}, want: pauses + "20s"},
		"a long back-off":                   {then: []store.Action{backOff("40s")}, want: image + "has crashed and is in back-off for 40s"},
		"a very long back-off":              {then: []store.Action{backOff("5m0s")}, want: image + "has crashed and is in back-off for 5m0s"},
		"it does not come back":             {then: []store.Action{backOff("10s")}, overdue: true, want: image + "has crashed and does not start again"},
		"it runs again":                     {then: []store.Action{backOff("10s"), running}, want: "start a in place"},
		"it runs again, and crashes":        {then: []store.Action{backOff("10s")}, overdue: true, overdue2: []store.Action{running, backOff("20s")}, want: pauses + "20s"},
		"the image's own files":             {fresh: true, then: []store.Action{crashed(nil)}, want: image + "crashes with the files of its image"},
		"the image's own, under hone":       {fresh: true, change: supervised, then: []store.Action{backOff("10s")}, want: pauses + "10s"},
		"another container":                 {then: []store.Action{crashed(func(_ *model.Pod, c *model.Container) { c.Image = "other" })}, want: "start a"},
		"it never starts":                   {then: []store.Action{crashed(func(_ *model.Pod, c *model.Container) { c.State, c.Reason = model.ContainerWaiting, "ErrImagePull" })}, want: "start a"},
		"its pod has failed":                {then: []store.Action{crashed(func(p *model.Pod, _ *model.Container) { p.Phase = "Failed" })}, want: "start a"},
		"another pod can take it":           {then: []store.Action{crashed(nil), statetest.Pod("a", "q", "d1", "a:1")}, want: "start a in place"},
		"the user asks for it all the same": {then: []store.Action{backOff("10s"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}}, want: "start a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := up(func(m map[string]*model.Manifest) {
				m["a"].Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src/a", RemotePath: "/app"}}}
				if tt.change != nil {
					tt.change(m["a"])
				}
			}, statetest.K8s("a", statetest.Image("a"))).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"))
			if !tt.fresh {
				s.Then(statetest.Change("a", "/src/a/x")).Begin("a").
					Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced, b.Touched = "synclet", []string{"c1"}, []string{"c1"} })
			}
			s.Then(tt.then...)
			if tt.overdue {
				overdue(s)
			}
			s.Then(tt.overdue2...).Then(statetest.Change("a", "/src/a/x"))
			p, got := Decide(s.View(), nil), ""
			for _, c := range p.Start {
				got += "start a"
				if c.Absent != "" {
					got += ": " + c.Absent
				} else if len(lanesIn(s.View(), "a").LackingFor(c)) > 0 {
					got += " in place"
				}
			}
			for name, h := range p.Holds {
				got += fmt.Sprintf("hold %s: %s", name, h)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func supervised(m *model.Manifest) { m.Images[0].LiveUpdate.RestartProcess = &model.RestartProcess{} }

// TestNextStart checks the time for which a crashed container is waited for: each run counts for itself, and by this machine's
// clock.
func TestNextStart(t *testing.T) {
	s := up(same, statetest.K8s("a")).Then(statetest.Pod("a", "p", "c1", "a:1"))
	by := func() (wait time.Duration) {
		next := state.NextStart(s.View())
		return next.By.Sub(next.Since)
	}
	for i, tt := range []struct {
		then store.Action
		want time.Duration
	}{
		{statetest.Pod("a", "p", "c1", "a:1"), 0},
		{crashed(nil), 15 * time.Second},
		{backOff("10s"), 25 * time.Second},
		{state.StartOverdue{UID: crashed(nil).Pod.UID, Since: time.Now().Add(time.Hour)}, 25 * time.Second}, // another run's
		{statetest.Pod("a", "p", "c2", "a:1"), 0},
		{backOff("20s"), 35 * time.Second},
	} {
		s.Then(tt.then)
		if got := by(); got != tt.want {
			t.Errorf("%d: %s, want %s", i, got, tt.want)
		}
	}
	overdue(s)
	if due, _ := NextDue(s.View()); due != nil || by() != 0 {
		t.Errorf("it is reported again: %v", due)
	}
}
