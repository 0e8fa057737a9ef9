package clustermonitor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// server is a cluster behind a connection: it answers requests after a time, its connection answers pings every second, its
// watches report something from time to time, and all of that may stop.
type server struct {
	mu     sync.Mutex
	pings  bool          // the connection is pinged
	events time.Duration // between two events of its watches; 0 for none
	slow   time.Duration // how long an answer takes
	sleep  time.Duration // how long the machine sleeps when the monitor looks next
	heard  time.Time
	gone   chan struct{} // closed while it answers
	err    error         // its answer instead
	alive  int           // how often Alive was asked
	asked  int           // how often anything was asked
	// dead means that its connection is dead, and that another one would be answered; renewed counts the others.
	dead    bool
	renewed int
	// stuck means that one of its connections is dead, and others live.
	stuck      bool
	stuckSince time.Time
}

func newServer(ctx context.Context, pings bool, events time.Duration) *server {
	s := &server{pings: pings, events: events, heard: time.Now(), gone: make(chan struct{})}
	close(s.gone)
	for _, every := range []time.Duration{map[bool]time.Duration{true: time.Second / 2}[pings], events} {
		if every > 0 {
			go s.sound(ctx, every)
		}
	}
	return s
}

// sound makes something arrive at an interval.
func (s *server) sound(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.hear()
		}
	}
}

func (s *server) hear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.gone:
		s.heard = time.Now()
	default:
	}
}

// silent makes the server stop forwarding, or forward again.
func (s *server) silent(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.gone = make(chan struct{})
	} else {
		close(s.gone)
	}
}

func (s *server) answer(ctx context.Context) error {
	s.mu.Lock()
	s.asked++
	gone, slow := s.gone, s.slow
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-gone:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.hear()
	return nil
}

func (s *server) Detect(ctx context.Context) (model.Cluster, error) {
	return model.Cluster{Context: "dev", Server: "https://x"}, s.answer(ctx)
}

func (s *server) Healthy(ctx context.Context) error { return s.answer(ctx) }

func (s *server) Alive(ctx context.Context) error {
	s.mu.Lock()
	s.alive++
	s.mu.Unlock()
	return s.answer(ctx)
}

// Renew also has the server heard again, on another connection, if only the old one is dead.
func (s *server) Renew(ctx context.Context) error {
	s.mu.Lock()
	if s.stuck {
		s.renewed++
		s.stuck = false
	}
	if s.dead {
		s.renewed++
		s.dead = false
		close(s.gone)
	}
	s.mu.Unlock()
	return s.Alive(ctx)
}

// Stuck returns the time for its one connection.
func (s *server) Stuck() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck {
		return time.Since(s.stuckSince)
	}
	return 0
}

func (s *server) Cluster() model.Cluster { return model.Cluster{Context: "dev", Server: "https://x"} }

func (s *server) Quiet() (time.Duration, bool) {
	s.mu.Lock()
	sleep := s.sleep
	s.sleep = 0
	s.mu.Unlock()
	time.Sleep(sleep)
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.heard), s.pings
}

func (s *server) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alive
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// session starts a session with one resource in the cluster.
func session(t *testing.T, s *server) *statetest.Alone {
	return statetest.Start(t, New(s, model.Cluster{Context: "dev"}), "BuildController").Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
}

// connectedAfter lets time pass and returns whether the cluster counts as connected.
func connectedAfter(a *statetest.Alone, d time.Duration) bool {
	time.Sleep(d)
	synctest.Wait()
	return state.TheCluster(a.View()).Connected
}

// TestSilence: a cluster that accepts connections and answers nothing is noticed within three seconds, and so is its return.
func TestSilence(t *testing.T) {
	const name = `cluster "dev" (https://x) does not answer: nothing has arrived from it for 3 s`
	for _, phase := range []time.Duration{0, 400 * time.Millisecond, 999 * time.Millisecond, 1400 * time.Millisecond, 9990 * time.Millisecond} {
		for _, events := range []time.Duration{0, 700 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t.Context(), true, events)
				a := session(t, s)
				if !connectedAfter(a, 20*time.Second+phase) {
					t.Fatal("not connected")
				}
				s.silent(true)
				began := time.Now()
				if connectedAfter(a, 3*time.Second) {
					t.Errorf("after %s, events every %s: nothing is known of a silence of 3 s", phase, events)
				}
				c := state.TheCluster(a.View())
				if before := began.Sub(c.Lost); before < 0 || before > time.Second || c.Err == "" {
					t.Errorf("lost %s before its silence: %q", before, c.Err)
				}
				if first, _, _ := cut(c.Err); first != name {
					t.Errorf("the error is %q", first)
				}
				lost := c.Lost
				if connectedAfter(a, 21*time.Second) || state.TheCluster(a.View()).Lost != lost {
					t.Errorf("later: %+v", state.TheCluster(a.View()))
				}
				s.silent(false)
				if !connectedAfter(a, 1100*time.Millisecond) {
					t.Error("its return was not noticed within a second")
				}
			})
		}
	}
}

func cut(s string) (first, rest string, ok bool) {
	for i, c := range s {
		if c == '\n' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// TestDeadConnection: a connection that is dead without an error, as after a change of networks, is replaced before the cluster counts
// as silent.
func TestDeadConnection(t *testing.T) {
	// The last ones are shortly before the monitor asks whether the cluster is healthy.
	for _, phase := range []time.Duration{0, 400 * time.Millisecond, 999 * time.Millisecond, 9200 * time.Millisecond, 9990 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t.Context(), true, 700*time.Millisecond)
			a := session(t, s)
			connectedAfter(a, 20*time.Second+phase)
			s.silent(true)
			s.set(func() { s.dead = true })
			for range 50 {
				if !connectedAfter(a, 100*time.Millisecond) {
					t.Fatal("it counts as silent")
				}
				if quiet, _ := s.Quiet(); quiet > 2*time.Second {
					t.Fatalf("nothing for %s", quiet)
				}
			}
			if s.renewed != 1 {
				t.Errorf("%d connections", s.renewed)
			}
		})
	}
}

// TestStuckConnection: one that is dead beside others that live is replaced too, and the cluster never counts as silent.
func TestStuckConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t.Context(), true, 700*time.Millisecond)
		a := session(t, s)
		connectedAfter(a, 20*time.Second)
		s.set(func() { s.stuck, s.stuckSince = true, time.Now() })
		for range 100 {
			if !connectedAfter(a, 100*time.Millisecond) {
				t.Fatal("it counts as silent")
			}
			if s.Stuck() > 3*time.Second {
				t.Fatal("it is still stuck")
			}
		}
		if s.renewed != 1 {
			t.Errorf("%d connections", s.renewed)
		}
	})
}

// TestSilenceWithoutPings: on a connection that is not pinged, a question has to be unanswered for three seconds.
func TestSilenceWithoutPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t.Context(), false, 0)
		a := session(t, s)
		connectedAfter(a, 20500*time.Millisecond)
		s.silent(true)
		if connectedAfter(a, askSoon+silentAfter) {
			t.Error("nothing is known of its silence")
		}
	})
}

// TestNoFalseAlarm: neither slow answers nor a machine that slept are a silence.
func TestNoFalseAlarm(t *testing.T) {
	for _, pings := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t.Context(), pings, 0)
			a := session(t, s)
			connectedAfter(a, 10*time.Second)
			s.set(func() { s.slow = 2900 * time.Millisecond })
			for range 600 {
				if !connectedAfter(a, 100*time.Millisecond) {
					t.Fatalf("pings %v: a slow server counts as silent: %s", pings, state.TheCluster(a.View()).Err)
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t.Context(), true, 0)
		a := session(t, s)
		connectedAfter(a, 3500*time.Millisecond)
		s.set(func() { s.sleep = 5 * time.Second })
		s.silent(true)
		time.Sleep(7 * time.Second)
		s.silent(false)
		for range 300 {
			if !connectedAfter(a, 10*time.Millisecond) {
				t.Fatalf("a machine that slept: %s", state.TheCluster(a.View()).Err)
			}
		}
	})
}

// TestNothingIsAskedWhileItLives: as long as something arrives, only the poll for its readiness is sent.
func TestNothingIsAskedWhileItLives(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pings  bool
		events time.Duration
		most   int
	}{
		{"a connection that is pinged", true, 0, 0},
		{"watches that report", false, 500 * time.Millisecond, 0},
		{"nothing arrives by itself", false, 0, 600},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t.Context(), tt.pings, tt.events)
			a := session(t, s)
			if !connectedAfter(a, 10*time.Minute) || s.questions() > tt.most || tt.most > 0 && s.questions() < 300 {
				t.Errorf("%s: %d questions in ten minutes", tt.name, s.questions())
			}
		})
	}
}

// TestRefused: a cluster that ends its connections is noticed by the question, and needs a second opinion.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t.Context(), true, 0)
		a := session(t, s)
		connectedAfter(a, 20500*time.Millisecond)
		s.set(func() { s.err = &k8s.Unreachable{Cause: errors.New("connection refused")} })
		s.silent(true)
		if connectedAfter(a, time.Minute) || state.TheCluster(a.View()).Err != "connection refused" {
			t.Errorf("%+v", state.TheCluster(a.View()))
		}
		s.set(func() { s.err = nil })
		s.silent(false)
		if !connectedAfter(a, pollRefused) {
			t.Error("its return was not noticed within half a second")
		}
	})
}
