package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestUnknown looks at the shop while the cluster does not answer: facts that only the cluster knows are not shown as well, and
// hone's own facts stay.
func TestUnknown(t *testing.T) {
	s := hudtest.Shop()
	at := 40*time.Minute + 58*time.Second
	cluster := model.Cluster{Context: "kind-dev", Namespace: "default"}
	s.At(at, state.ClusterReported{Cluster: cluster, Err: "no answer", Heard: hudtest.Start.Add(at - 3*time.Second)})
	got := Build(s.View(t.Context()), hudtest.ShopTime, 0)
	golden(t, "unknown.txt", got.Text())
	want := Counts{Well: 2, Updating: 1, Waiting: 1, Unknown: 5, Idle: 2}
	if d := cmp.Diff(want, got.Header.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	for _, r := range got.Rows {
		if r.Name == "web" {
			if d := cmp.Diff("3000 ? 9229 ?", r.Text(Column{Kind: ColumnPorts, Width: 20}, true).String()); d != "" {
				t.Error(d)
			}
			if !r.Matches("is:unknown") || r.Matches("is:ok") {
				t.Error("is:unknown")
			}
			if r.Important().String() != r.Runtime.String() {
				t.Errorf("important: %q", r.Important())
			}
		}
	}
	if sum := got.Summary(); !strings.HasPrefix(sum, "2 ok, 1 updating, 1 waiting, 5 unknown\n") || strings.Contains(sum, "failed") {
		t.Errorf("summary:\n%s", sum)
	}
	s = hudtest.Shop()
	s.At(at, state.ClusterReported{Cluster: cluster, Err: "no answer"}, state.ClusterReported{Cluster: cluster, Connected: true})
	v := s.View(t.Context())
	if d := cmp.Diff(Build(hudtest.Shop().View(t.Context()), hudtest.ShopTime, 0).Text(), Build(v, hudtest.ShopTime, 0).Text()); d != "" {
		t.Errorf("the cluster answers again (-before +now):\n%s", d)
	}
}

// TestUnknownCompose: for a service of Compose it is the container engine that has to answer.
func TestUnknownCompose(t *testing.T) {
	s := one(func(m *model.Manifest) { m.K8s, m.Images, m.Compose = nil, nil, &model.ComposeTarget{Service: "api"} }, func(s *hudtest.Scene) {
		s.Build("api", 1, time.Minute, 2*time.Minute, state.BuildCompleted{Mode: "compose", Deployed: true})
		p := hudtest.Pod("api", 2*time.Minute, true)
		p.Engine = "unix:///d.sock"
		s.At(3*time.Minute, state.PodChanged{Pod: p})
		s.At(4*time.Minute, state.ClusterReported{Err: "gone"}, state.EngineReported{Err: "no answer"})
	})
	r := Build(s.View(t.Context()), hudtest.ShopTime, 0).Rows[1]
	if r.Status != Unknown || !strings.HasPrefix(r.Runtime.String(), "unknown since 12:04:00, was ") {
		t.Errorf("%s %q", fmt.Sprint(r.Status), r.Runtime)
	}
}

// TestUnknownFailedUpdate: a failed update is known, whatever the state of the cluster.
func TestUnknownFailedUpdate(t *testing.T) {
	s := one(nil, func(s *hudtest.Scene) {
		s.Build("api", 1, time.Minute, 2*time.Minute, hudtest.Applied("image"))
		s.At(3*time.Minute, state.PodChanged{Pod: hudtest.Pod("api", 2*time.Minute, true)})
		s.Build("api", 2, 4*time.Minute, 5*time.Minute, state.BuildCompleted{Err: "exit 2"}, "main.go")
		s.At(6*time.Minute, state.ClusterReported{Err: "no answer"})
	})
	r := Build(s.View(t.Context()), hudtest.ShopTime, 0).Rows[1]
	if r.Status != Failed || r.Err() != "exit 2" || r.Runtime.String() != "unknown since 12:06:00, was running 1/1" {
		t.Errorf("%s %q %q", r.Status, r.Err(), r.Runtime)
	}
}
