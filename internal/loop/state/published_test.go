package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPublished reads the published ports of containers whose service declares a fixed and a chosen port.
func TestPublished(t *testing.T) {
	m := model.Manifest{Compose: &model.ComposeTarget{Ports: []model.ComposePort{{Published: 9090, Target: 90, Protocol: "tcp", Name: "admin"}, {Target: 80, Protocol: "tcp"}}}}
	port := func(ip string, published, target int) model.ComposePort {
		return model.ComposePort{HostIP: ip, Published: published, Target: target, Protocol: "tcp"}
	}
	for _, tc := range []struct {
		name  string
		ports []model.ComposePort
		want  []int
	}{
		{"one number for IPv4 and IPv6", []model.ComposePort{port("0.0.0.0", 32770, 80), port("::", 32770, 80)}, []int{32770}},
		{"another number for IPv6", []model.ComposePort{port("0.0.0.0", 32770, 80), port("::", 32771, 80)}, []int{32770}},
		{"another number for IPv6, first", []model.ComposePort{port("::", 32768, 80), port("0.0.0.0", 32770, 80)}, []int{32770}},
		{"IPv6 only", []model.ComposePort{port("::", 32771, 80)}, []int{32771}},
		{"a declared port for IPv6", []model.ComposePort{port("0.0.0.0", 8080, 90), port("::", 9090, 90)}, []int{8080, 9090}},
		{"two ports of the container", []model.ComposePort{port("0.0.0.0", 32771, 80), port("0.0.0.0", 9090, 90)}, []int{9090, 32771}},
		{"not published", []model.ComposePort{port("0.0.0.0", 0, 80)}, nil},
	} {
		pods := []state.Pod{{Pod: model.Pod{Published: tc.ports}, Current: true}}
		var got []int
		for _, p := range state.Published(m, pods) {
			got = append(got, p.Published)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
