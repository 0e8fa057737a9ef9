package view

import (
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPortsCount: a forward that does not work makes its row failing; one whose pod is not ready yet only waits.
func TestPortsCount(t *testing.T) {
	taken := state.Forward{State: state.ForwardFailed, Err: "listen tcp 127.0.0.1:8080: address already in use"}
	refused := state.Forward{State: state.ForwardFailed, Pod: "default/api-7c9d-x2v1:80", Err: "cannot reach default/api-7c9d-x2v1:80: connection refused"}
	for _, tt := range []struct {
		name    string
		ready   bool
		forward state.Forward
		status  Status
		err     string
	}{
		{"ready", true, state.Forward{State: state.ForwardReady}, Well, ""},
		{"another program has the port", true, taken, Failed, "port 8080: " + taken.Err},
		{"another program has the port, no pod is ready", false, taken, Failed, "port 8080: " + taken.Err},
		{"no pod yet", false, state.Forward{State: state.ForwardWaiting, Err: "waiting for a pod"}, Waiting, ""},
		{"a pod that is not ready refuses", false, refused, Waiting, ""},
		{"a ready pod refuses", true, refused, Failed, "port 8080: " + refused.Err},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := one(func(m *model.Manifest) { m.K8s.PortForwards = []model.PortForward{{LocalPort: 8080}} }, func(s *hudtest.Scene) {
				s.Build("api", 1, time.Minute, 2*time.Minute, hudtest.Applied("image"))
				s.At(3*time.Minute, state.PodChanged{Pod: hudtest.Pod("api", 2*time.Minute, tt.ready)})
				tt.forward.Resource, tt.forward.Spec = "api", model.PortForward{LocalPort: 8080}
				s.At(10*time.Minute, state.ForwardChanged{ID: "api/8080", Forward: tt.forward})
				s.At(10*time.Minute, state.ForwardChanged{ID: "api/8080", Forward: tt.forward})
			})
			v := Build(s.View(t.Context()), hudtest.Start.Add(10*time.Minute), 0)
			r := v.Rows[1]
			if r.Status != tt.status || r.PortErr != tt.err || r.Err() != tt.err {
				t.Errorf("status %s, port error %q, error %q; want %s, %q", r.Status, r.PortErr, r.Err(), tt.status, tt.err)
			}
			failing := tt.err != ""
			if r.Matches("is:failing") != failing || (v.Header.Counts.Failed == 1) != failing {
				t.Errorf("is:failing %v, counts %+v", r.Matches("is:failing"), v.Header.Counts)
			}
			if got := v.Summary(); strings.Contains(got, "port forward failed: "+tt.err) != failing {
				t.Errorf("summary:\n%s", got)
			}
			if failing && r.Important().String() != tt.err {
				t.Errorf("the important cell is %q", r.Important())
			}
		})
	}
}

// TestTheFailingPortIsShown: where there is room for one port, it is the one that fails.
func TestTheFailingPortIsShown(t *testing.T) {
	r := Row{Ports: []Port{{Number: 3000, State: status.PortReady}, {Number: 9229, State: status.PortFailed, Err: "x"}}}
	if got := r.Text(Column{Kind: ColumnPorts, Width: 5, Short: true}, true).String(); !strings.HasPrefix(got, "9229") {
		t.Errorf("shown: %q", got)
	}
}
