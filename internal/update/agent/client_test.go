//go:build linux

package agent

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// TestClientsMayCome checks how long the container of a crashed process is kept: longer for a client that was lost than for one
// that has never connected, and than after one that has left.
func TestClientsMayCome(t *testing.T) {
	type going struct {
		left bool
		ago  time.Duration
	}
	for name, tt := range map[string]struct {
		gone []going // the oldest first
		want time.Duration
	}{
		"no client yet":        {nil, attach},
		"left":                 {[]going{{true, 0}}, attach},
		"lost":                 {[]going{{false, 0}}, lingering},
		"lost a while ago":     {[]going{{false, time.Minute}}, lingering - time.Minute},
		"lost long ago":        {[]going{{false, time.Hour}}, attach},
		"lost, then left":      {[]going{{false, time.Second}, {true, 0}}, attach},
		"left, then lost":      {[]going{{true, time.Minute}, {false, time.Second}}, lingering - time.Second},
		"lost, and then again": {[]going{{false, time.Hour}, {false, time.Second}}, lingering - time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, end := newClients(), time.Now().Add(24*time.Hour)
				for _, g := range tt.gone {
					time.Sleep(time.Until(end.Add(-g.ago)))
					conn, _, err := os.Pipe()
					check(t, err)
					one := &client{conn: conn}
					c.join(one)
					c.leave(one, g.left)
				}
				time.Sleep(time.Until(end))
				if got := c.mayCome(); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestLostClientComesBack crashes a process while its client is away: the client finds the container as it was, and restarts the process.
func TestLostClientComesBack(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, crashing)
	s.says("up")
	k := s.talk()
	expect[*protocol.Process](k)
	k.close()
	s.open()
	k = s.talk()
	for p := expect[*protocol.Process](k); p.Running; p = expect[*protocol.Process](k) {
	}
	k.send(&protocol.Restart{ID: 1})
	if r := expect[*protocol.Restarted](k); r.Code != protocol.RestartDone {
		t.Errorf("restarted: %+v", r)
	}
	s.says("up")
}
