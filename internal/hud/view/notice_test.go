package view

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestNoticeLine: in one line, the cause gives way to the mend.
func TestNoticeLine(t *testing.T) {
	c := model.Cluster{Context: "kind-dev", Server: "https://127.0.0.1:6443"}
	err := k8s.Silent(c, 3*time.Second)
	s := one(nil, func(s *hudtest.Scene) {
		s.At(time.Minute, state.ClusterReported{Cluster: c, Err: "x", Problem: state.ProblemOf(err)})
	})
	n := Build(s.View(t.Context()), hudtest.ShopTime, 0).Notices[0]
	const mend = "Start it, or choose another one with --context."
	for width, want := range map[int]string{
		300: "cluster kind-dev does not answer  nothing has arrived from it for 3 s  " + mend + " Then check: kubectl --context kind-dev get nodes",
		140: "cluster kind-dev does not answer  nothing has arrived from it for 3 s  " + mend,
		102: "cluster kind-dev does not answer  nothing h…t for 3 s  " + mend,
		90:  "cluster kind-dev does not answer  " + mend,
		80:  "cluster kind-dev does not answ…  " + mend,
		60:  "cluster kind-dev does n…  Start it, or choose another one w…",
	} {
		got := n.Line(width)
		if d := cmp.Diff(want, got.String()); d != "" || got.Width() > width {
			t.Errorf("%d columns, %d used (-want +got):\n%s", width, got.Width(), d)
		}
	}
	var whole []string
	for _, l := range n.Whole() {
		whole = append(whole, l.String())
	}
	want := []string{`cluster "kind-dev" (https://127.0.0.1:6443) does not answer`, "nothing has arrived from it for 3 s", "since 12:01:00", "",
		"Start it, or choose another one with --context. Then check: kubectl --context kind-dev get nodes"}
	if d := cmp.Diff(want, whole); d != "" {
		t.Error(d)
	}
}

// TestNoticesKeepTheMend: problems that are known only as text keep their mend as well, and nothing in them can disturb the
// screen.
func TestNoticesKeepTheMend(t *testing.T) {
	s := one(nil, func(s *hudtest.Scene) {
		s.At(time.Minute, state.BuildStarted{Resource: "api", Serial: 1, At: hudtest.Start.Add(time.Minute)},
			state.BuildCompleted{Resource: "api", Serial: 1, Cancelled: true, ClusterErr: "cluster \"x\" does not answer: \x1b[31mEOF\n  Start it.\n  Then wait."},
			state.WatchReported{Problem: "too many files to watch\n  Raise \x1b]0;title\x07the limit."},
			state.EngineReported{Err: "no socket", Problem: state.ProblemOf(errors.New("no socket"))})
	})
	notices := Build(s.View(t.Context()), hudtest.ShopTime, 0).Notices
	if len(notices) != 3 {
		t.Fatalf("%+v", notices)
	}
	if n := notices[0]; n.Text != "cluster kind-dev does not answer" || n.Mend != "Start it.\nThen wait." || n.Cause != `cluster "x" does not answer: EOF` {
		t.Errorf("%+v", n)
	}
	if n := notices[2]; n.Text != "too many files to watch" || n.Mend != "Raise the limit." || n.Tone != Warn {
		t.Errorf("%+v", n)
	}
	for _, n := range notices {
		for _, l := range append(n.Whole(), n.Line(200)) {
			if strings.ContainsAny(l.String(), "\x1b\x07\n") {
				t.Errorf("%q", l)
			}
		}
	}
}
