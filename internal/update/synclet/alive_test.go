//go:build linux

package synclet

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/update/agent"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// way is a connection to a synclet that takes a piece, waits, and passes it on, with buffers between, like a slow
// network.
type way struct {
	pause   time.Duration // after each piece towards the synclet
	buffers int           // how many chunks lie on the way
	// stop blocks everything once it is closed.
	stop chan struct{}
}

// join starts a synclet at the other end. Everything ends with the test, once the conversation has been closed.
func (w way) join(t *testing.T) io.ReadWriteCloser {
	toWay, in := io.Pipe()
	out, fromWay := io.Pipe()
	serverIn, toSynclet := io.Pipe()
	fromSynclet, serverOut := io.Pipe()
	ended := make(chan struct{})
	var all sync.WaitGroup
	buffer := make(chan []byte, w.buffers)
	all.Go(func() {
		defer close(buffer)
		for {
			p := make([]byte, piece)
			n, err := toWay.Read(p)
			if err != nil {
				return
			}
			select {
			case buffer <- p[:n]:
			case <-ended:
				return
			}
		}
	})
	all.Go(func() {
		defer toSynclet.Close()
		for p := range buffer {
			time.Sleep(w.pause)
			if !w.moves(ended) {
				return
			}
			if _, err := toSynclet.Write(p); err != nil {
				return
			}
		}
	})
	all.Go(func() {
		p := make([]byte, piece)
		for {
			n, err := fromSynclet.Read(p)
			if err != nil || !w.moves(ended) {
				return
			}
			if _, err := fromWay.Write(p[:n]); err != nil {
				return
			}
		}
	})
	all.Go(func() {
		_ = agent.Serve(serverIn, serverOut, os.Environ())
		_ = serverIn.Close()
	})
	t.Cleanup(func() {
		close(ended)
		_, _, _ = toWay.Close(), fromSynclet.Close(), toSynclet.Close()
		all.Wait()
	})
	return &duplex{r: out, w: in, limit: -1}
}

// moves blocks forever once the way is stopped.
func (w way) moves(ended chan struct{}) bool {
	select {
	case <-w.stop:
		<-ended
		return false
	default:
		return true
	}
}

// TestSilence checks that a silent stream is noticed within 20 seconds, whatever is running, and that an active one is
// left alone.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		name string
		way  way
		do   func(t *testing.T, s *Conversation, stop func()) error
		dead bool
	}{
		{"idle for an hour", way{}, func(t *testing.T, s *Conversation, _ func()) error {
			time.Sleep(time.Hour)
			_, err := s.Ping(t.Context())
			return err
		}, false},
		{"idle, and the way dies", way{}, func(t *testing.T, s *Conversation, stop func()) error {
			time.Sleep(time.Hour)
			stop()
			<-s.Done()
			return s.Err()
		}, true},
		{"a small file on a dead way", way{buffers: 8}, func(t *testing.T, s *Conversation, stop func()) error {
			time.Sleep(5 * time.Second)
			stop()
			_, err := s.Apply(t.Context(), aFile(t, 1000))
			return err
		}, true},
		{"a big file on a dead way", way{buffers: 8}, func(t *testing.T, s *Conversation, stop func()) error {
			stop()
			_, err := s.Apply(t.Context(), aFile(t, wholeFile+1))
			return err
		}, true},
		{"the container stands still in the middle of a big file", way{pause: time.Second, buffers: 8}, func(t *testing.T, s *Conversation, stop func()) error {
			time.AfterFunc(30*time.Second, stop)
			_, err := s.Apply(t.Context(), aFile(t, 2*wholeFile))
			return err
		}, true},
		{"a big file on a slow way with much room in between", way{pause: 2 * time.Second, buffers: 96}, func(t *testing.T, s *Conversation, _ func()) error {
			_, err := s.Apply(t.Context(), aFile(t, 40<<20))
			return err
		}, false},
		{"many files on a slow way", way{pause: 2 * time.Second, buffers: 96}, func(t *testing.T, s *Conversation, _ func()) error {
			var b Batch
			for range 100 {
				b.Puts = append(b.Puts, aFile(t, 100<<10).Puts...)
			}
			_, err := s.Apply(t.Context(), b)
			return err
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.way.stop = make(chan struct{})
				s, err := Open(t.Context(), tt.way.join(t), protocol.Hello{Places: []protocol.Place{{Dir: filepath.Dir(t.TempDir())}}})
				check(t, err)
				defer s.Close()
				stopped := make(chan time.Time, 1)
				err = tt.do(t, s, func() { stopped <- time.Now(); close(tt.way.stop) })
				if !tt.dead {
					check(t, err)
					return
				}
				if !errors.Is(err, ErrSilent) {
					t.Errorf("got %v", err)
				}
				if late := time.Since(<-stopped); late > askAfter+answerWithin+time.Second {
					t.Errorf("noticed after %s", late)
				}
			})
		})
	}
}

// aFile is an update with one new file.
func aFile(t *testing.T, size int) Batch {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "from"), strings.Repeat("0123456789abcdef", size/16+1)[:size], 0o644)
	return Batch{Puts: []Put{{Local: filepath.Join(dir, "from"), Remote: filepath.Join(dir, "to")}}}
}
