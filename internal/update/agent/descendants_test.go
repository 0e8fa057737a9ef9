//go:build linux

package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// TestRestartEndsDescendants restarts a process whose descendants have left its group, are orphans, have another environment and
// another user. Processes that another command has left running in the container stay.
func TestRestartEndsDescendants(t *testing.T) {
	t.Parallel()
	const daemons = 4
	s := startSupervised(t, `
		setsid sh -c 'echo up $$; while :; do sleep 0.01; done' &
		(setsid sh -c 'trap "" TERM HUP; echo up $$; while :; do sleep 0.01; done' &)
		(env -i setsid sh -c 'echo up $$; while :; do /bin/sleep 0.01; done' &)
		(setsid setpriv --reuid 65534 --clear-groups sh -c 'echo up $$; exec sleep 1000' &)
		while :; do sleep 0.01; done`)
	up := func() (pids []string) {
		for range daemons {
			pids = append(pids, strings.TrimSpace(s.says("up ")))
		}
		return pids
	}
	runs := func(pid string) bool { return s.enter("kill", "-0", pid).Run() == nil }
	pids := up()
	left, err := s.enter("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!").Output()
	check(t, err)
	k := s.talk()
	for round := range uint64(3) {
		k.send(&protocol.Restart{ID: round + 1, GraceNanos: uint64(time.Hour)})
		if r := expect[*protocol.Restarted](k); r.Code != protocol.RestartDone {
			t.Fatalf("restarted: %+v", r)
		}
		for i, pid := range pids {
			if runs(pid) {
				t.Errorf("round %d: descendant %d goes on", round, i)
			}
		}
		pids = up()
	}
	if !runs(strings.TrimSpace(string(left))) {
		t.Error("what another command left running is gone")
	}
}
