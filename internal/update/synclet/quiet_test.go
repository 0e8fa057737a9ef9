//go:build linux

package synclet

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
)

// saying is a log of which the first words count, with the time at which they were said.
func saying(said *[]string) logstore.Logger {
	began := time.Now()
	return logstore.Func(func(_ logstore.Level, text string) {
		first, _, _ := strings.Cut(strings.TrimSpace(text), ":")
		*said = append(*said, time.Since(began).Round(100*time.Millisecond).String()+" "+first)
	})
}

// TestQuiet saves a file while the container stands still: the user is told within seconds, not after the twenty that it takes to give up.
func TestQuiet(t *testing.T) {
	for _, tt := range []struct {
		name string
		way  way
		size int
		stop bool
		want []string
	}{
		{"it answers at once", way{}, 1000, false, nil},
		{"it answers late", way{pause: 5 * time.Second}, 1000, false,
			[]string{"3s Container web has not answered for 3s", "5s Container web answers again, after 5s"}},
		{"it takes long and says so", way{pause: 2 * time.Second}, wholeFile, false, nil},
		{"it does not answer", way{}, 1000, true, []string{"3s Container web has not answered for 3s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.way.stop = make(chan struct{})
				s, err := Open(t.Context(), tt.way.join(t), protocol.Hello{Places: []protocol.Place{{Dir: filepath.Dir(t.TempDir())}}})
				check(t, err)
				defer s.Close()
				time.Sleep(time.Minute)
				if tt.stop {
					close(tt.way.stop)
				}
				var got []string
				over := s.attend("web", saying(&got))
				_, err = s.Apply(t.Context(), aFile(t, tt.size))
				over(err == nil)
				if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != tt.stop {
					t.Errorf("%v (-want +got):\n%s", err, d)
				}
			})
		})
	}
}

// runner is a synclet whose commands take a time and print nothing. It stands still for a while.
type runner struct {
	takes        time.Duration
	freeze, thaw time.Duration // since it began
}

// join starts it. It ends with the conversation.
func (r runner) join(t *testing.T) io.ReadWriteCloser {
	in, toSynclet := io.Pipe()
	fromSynclet, out := io.Pipe()
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	began := time.Now()
	moves := func() {
		if at := time.Since(began); at >= r.freeze && at < r.thaw {
			time.Sleep(r.thaw - at)
		}
	}
	var mu sync.Mutex
	w := protocol.NewWriter(out)
	say := func(m protocol.Message) {
		mu.Lock()
		defer mu.Unlock()
		moves()
		w.Append(m)
		_ = w.Flush()
	}
	all.Go(func() {
		defer out.Close()
		_, _ = io.WriteString(out, protocol.Preamble)
		for reader := protocol.NewReader(in); ; {
			m, err := reader.Next()
			if err != nil {
				return
			}
			moves()
			switch m := m.(type) {
			case *protocol.Hello:
				say(&protocol.Hello{})
			case *protocol.Ping:
				say(&protocol.Pong{ID: m.ID})
			case *protocol.Run:
				all.Go(func() {
					time.Sleep(r.takes)
					say(&protocol.Exited{ID: m.ID})
				})
			}
		}
	})
	return &duplex{r: fromSynclet, w: toSynclet, limit: -1}
}

// TestQuietCommand runs a command that prints nothing: only a container that stands still is silent.
func TestQuietCommand(t *testing.T) {
	for name, tt := range map[string]struct {
		runner
		want []string
		dead bool
	}{
		"it takes a minute":             {runner{takes: time.Minute}, nil, false},
		"the container stands still":    {runner{time.Minute, 5 * time.Second, 10 * time.Second}, []string{"7.5s Container web has not answered for 3s", "10.5s Container web answers again, after 6s"}, false},
		"and is thawed as it ends":      {runner{9 * time.Second, 5 * time.Second, 9500 * time.Millisecond}, []string{"7.5s Container web has not answered for 3s", "9.5s Container web answers again, after 5s"}, false},
		"the container does not go on":  {runner{time.Minute, 5 * time.Second, time.Hour}, []string{"7.5s Container web has not answered for 3s"}, true},
		"a short command, none is told": {runner{time.Second, time.Hour, time.Hour}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(t.Context(), tt.join(t), protocol.Hello{})
				check(t, err)
				defer s.Close()
				var got []string
				sent := &delivery{talk: s, log: saying(&got)}
				sent.container.Name = "web"
				err = sent.attended(func() error { return s.Run(t.Context(), []string{"make"}, "", nil, io.Discard) })
				if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != tt.dead {
					t.Errorf("%v (-want +got):\n%s", err, d)
				}
			})
		})
	}
}

// frozen is a container in which nothing starts.
type frozen struct{}

func (frozen) Exec(ctx context.Context, _ k8s.ExecRequest) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestQuietConnection updates containers with which there is no conversation yet, and none begins.
func TestQuietConnection(t *testing.T) {
	for name, do := range map[string]func(context.Context, *Pool, logstore.Logger) error{
		"an update": func(ctx context.Context, p *Pool, log logstore.Logger) error {
			_, err := p.Update(ctx, aContainer("c1", "p1"), liveupdate.Plan{}, log)
			return err
		},
		"a restart": func(ctx context.Context, p *Pool, log logstore.Logger) error {
			return p.Restart(ctx, aContainer("c1", "p1"), log)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPool(frozen{})
				defer p.Close()
				var got []string
				err := do(t.Context(), p, saying(&got))
				want := []string{"3s Nothing has come from this step for 3s", "30s The step has ended after 30s"}
				if d := cmp.Diff(want, got); d != "" || err == nil {
					t.Errorf("%v (-want +got):\n%s", err, d)
				}
			})
		})
	}
}
