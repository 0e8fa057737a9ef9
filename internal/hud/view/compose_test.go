package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestComposeService shows a Compose service: the ports that its containers publish, including one chosen by the engine, and
// containers where a Kubernetes resource has objects and pods, with the exit code of one that died.
func TestComposeService(t *testing.T) {
	const minute = time.Minute
	service := model.Manifest{Name: "db", AutoInit: true, Compose: &model.ComposeTarget{Project: model.ComposeProject{Name: "shop"}, Service: "db",
		Ports: []model.ComposePort{{Target: 443, Protocol: "tcp", AppProtocol: "https"}, {Published: 5432, Target: 5432, Protocol: "tcp"}}}}
	container := func(change func(*state.Pod)) state.PodChanged {
		p := hudtest.Pod("db", 2*minute, true)
		p.Name, p.Namespace, p.Engine = "shop-db-1", "", "running"
		p.Containers[0].Name = "db"
		p.Published = []model.ComposePort{{HostIP: "0.0.0.0", Published: 32768, Target: 443, Protocol: "tcp"},
			{HostIP: "::", Published: 32768, Target: 443, Protocol: "tcp"}, {Published: 5432, Target: 5432, Protocol: "tcp"}}
		change(&p)
		return state.PodChanged{Pod: p}
	}
	for _, tt := range []struct {
		name string
		pod  func(*state.Pod)
		want string
	}{
		{"running", func(p *state.Pod) { p.Containers[0].LastReason, p.Containers[0].LastExitCode = "Error", 3 }, `
update      ok  started  1 m 0 s
runtime     running 1/1
trigger     auto
address     http://localhost:5432/
            https://localhost:32768/

--- 1 containers
    shop-db-1         running  2 m
      last run: Error, exit 3
      port 5432 → 5432/tcp
      port 32768 → 443/tcp
`},
		{"died", func(p *state.Pod) {
			p.Ready, p.Phase, p.Status, p.Engine, p.Published = false, "Failed", "exited with code 3", "exited", nil
			p.Containers[0].State, p.Containers[0].Reason, p.Containers[0].ExitCode = model.ContainerTerminated, "Error", 3
		}, `
update      ok  started  1 m 0 s
runtime     exited with code 3
trigger     auto

--- 1 containers
    shop-db-1         terminated, Error, exit 3
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := hudtest.New()
			s.Open(model.Tiltfile{Manifests: []model.Manifest{service}})
			s.Build("db", 1, minute, 2*minute, state.BuildCompleted{Mode: "compose", Deployed: true, Applied: []model.AppliedObject{{}}})
			s.At(3*minute, container(tt.pod))
			d, ok := DetailsOf(s.View(t.Context()), "db", hudtest.Start.Add(4*minute))
			if !ok {
				t.Fatal("no details")
			}
			got := "\n" + Details{Head: d.Head, Tabs: d.Tabs[1:2]}.Text(100)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
