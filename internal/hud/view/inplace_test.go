package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// replicas is api in three pods. The newest update has reached two of them, one before it had a command and a restart, and one
// failed.
func replicas(t *testing.T) (store.View, time.Time) {
	const minute = time.Minute
	live := func(m *model.Manifest) {
		m.Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/home/dev/shop/api", RemotePath: "/app"}}}
	}
	s := one(live, func(s *hudtest.Scene) {
		b := hudtest.Applied("image")
		b.Images = map[string]model.ImageResult{"api": {Cluster: "api:1"}}
		s.Build("api", 1, minute, 2*minute, b)
		for i := range 3 {
			p := hudtest.Pod("api", 2*minute, true)
			p.Name, p.UID = fmt.Sprintf("api-7c9d-%d", i), fmt.Sprint(i)
			p.Containers[0].ID, p.Containers[0].Image = "c-"+p.Name, "api:1"
			s.At(3*minute, state.PodChanged{Pod: p})
		}
		long := hudtest.Took("api-7c9d-1", 2, 52_000, 0.2, 31, 0.4, 1.1)
		long.Mode, long.Stages.Sent, long.Stages.Ran, long.Stages.Restarted = "exec", 0, 1200*time.Millisecond, 9*time.Millisecond
		s.Build("api", 2, 4*minute, 4*minute+2*time.Second, state.BuildCompleted{Mode: "exec",
			Containers: []model.ContainerUpdate{hudtest.Took("api-7c9d-0", 2, 52_000, 0.2, 31, 0.4, 1.1), long}}, "api/go.mod")
		failed := hudtest.Took("api-7c9d-1", 1, 812, 0.2, 0.1, 0.4, 1.1)
		failed.Err = `run "make" in container main: exit code 2`
		s.Build("api", 3, 5*minute, 5*minute+100*time.Millisecond, state.BuildCompleted{Mode: "synclet",
			Containers: []model.ContainerUpdate{hudtest.Took("api-7c9d-0", 1, 812, 0.2, 0.1, 0.4, 1.1), failed,
				{Namespace: "default", Pod: "api-7c9d-2", Container: "main", ID: "c-api-7c9d-2", Behind: true}},
			Sending: map[string]state.Sending{"c-api-7c9d-2": {Namespace: "default", Pod: "api-7c9d-2", Container: "main", Files: []string{"api/a.go", "api/b.go"}}},
		}, "api/a.go", "api/b.go")
	})
	return s.View(t.Context()), hudtest.Start.Add(5*minute + 3400*time.Millisecond)
}

// TestReplicas shows a container that is behind, in the table and in the details.
func TestReplicas(t *testing.T) {
	v, now := replicas(t)
	rows := Build(v, now, 0)
	if r := rows.Rows[1]; r.Behind != 1 || r.Status != Warning || rows.Refresh != time.Second {
		t.Errorf("row: %+v, refresh %s", r, rows.Refresh)
	}
	golden(t, "behind-80.txt", render(rows, 80))
	golden(t, "behind-140.txt", render(rows, 140))
	goldenDetails(t, v, "api", now, "behind")
}
