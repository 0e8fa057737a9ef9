//go:build linux

package agent

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// TestBeating checks that a client is notified of a long operation, but not forever, and not of a quick one.
func TestBeating(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		beats int
	}{{time.Second, 0}, {9 * time.Second, 4}, {time.Hour, maxBeats}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			s := &server{out: &replies{w: protocol.NewWriter(&out)}}
			s.beating(func() { time.Sleep(tt.takes) })
			time.Sleep(time.Hour)
			r, n := protocol.NewReader(&out), 0
			for {
				m, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if p, ok := m.(*protocol.Pong); !ok || p.ID != 0 {
					t.Fatalf("%T %+v, %v", m, m, err)
				}
				n++
			}
			if n != tt.beats {
				t.Errorf("%d beats in %s, want %d", n, tt.takes, tt.beats)
			}
		})
	}
}
