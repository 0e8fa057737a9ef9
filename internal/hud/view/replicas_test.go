package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestStandingPods looks at a resource with three pods, and one of an older deploy.
func TestStandingPods(t *testing.T) {
	pod := func(n int, ready bool, restarts int) state.Pod {
		p := hudtest.Pod("api", time.Duration(n)*time.Minute, ready)
		p.Name, p.UID = fmt.Sprintf("api-%d", n), fmt.Sprintf("uid-%d", n)
		p.Containers[0].Restarts = restarts
		return p
	}
	failing := pod(2, false, 4)
	failing.Status = "CrashLoopBackOff"
	failing.Containers[0].State, failing.Containers[0].Reason = model.ContainerWaiting, "CrashLoopBackOff"
	failing.Containers[0].LastReason, failing.Containers[0].LastExitCode = "Error", 1
	old := pod(9, true, 7)
	old.Current = false
	starting := pod(2, false, 0)
	starting.Status = "ContainerCreating"
	for _, tt := range []struct {
		name    string
		pods    []state.Pod
		status  Status
		runtime string
		pod     string
		err     string
	}{
		{"all ready", []state.Pod{pod(1, true, 1), pod(2, true, 0), pod(3, true, 2), old}, Well, "running 3/3  ↻3", "api-3 +2", ""},
		{"one is not ready yet", []state.Pod{pod(1, true, 0), starting, pod(3, true, 0)}, Waiting, "creating 2/3", "api-3 +2", ""},
		{"one fails", []state.Pod{pod(1, true, 0), failing, pod(3, true, 0), old}, Failed, "crash loop ×4  exit 1  2/3 ready", "api-2 +2",
			"pod api-2: container main: CrashLoopBackOff, exit code 1 (Error)"},
		{"one only", []state.Pod{pod(1, true, 0)}, Well, "running 1/1", "api-1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := one(nil, func(s *hudtest.Scene) {
				s.Build("api", 1, time.Second, 2*time.Second, hudtest.Applied("image"))
				for _, p := range tt.pods {
					s.At(10*time.Minute, state.PodChanged{Pod: p})
				}
			})
			r := Build(s.View(t.Context()), hudtest.Start.Add(11*time.Minute), 0).Rows[1]
			got := []string{fmt.Sprint(r.Status), r.Runtime.String(), r.Text(Column{Kind: ColumnPod, Width: 20}, true).String(), r.Err()}
			if d := cmp.Diff([]string{fmt.Sprint(tt.status), tt.runtime, tt.pod, tt.err}, got); d != "" {
				t.Error(d)
			}
			if cell := r.Text(Column{Kind: ColumnPod, Width: 7}, true); cell.Width() > 7 {
				t.Errorf("%q in 7 columns", cell)
			}
		})
	}
}
