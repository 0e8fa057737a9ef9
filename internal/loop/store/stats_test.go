package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSubscriberStats counts the work of a subscriber that takes 3 s for each change and fails at the second.
func TestSubscriberStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		s := New(f.schema)
		worker := sub{contract: Contract{Name: "worker", Doc: "Works.", Inputs: Reads(f.counters, f.jobs), Outputs: Emits(hired{}, left{}), Feedback: "test"}}
		runs := 0
		worker.run = func(ctx context.Context, rt *Runtime) error {
			for runs++; ; {
				select {
				case <-ctx.Done():
					return nil
				case <-rt.Wake():
				}
				n := f.counters.In(rt.View()).Value("a").N
				if n == 0 || f.jobs.In(rt.View()).Len() > 0 {
					continue
				}
				time.Sleep(3 * time.Second)
				if runs == 1 {
					return errors.New("no tools")
				}
				rt.Dispatch(hired{"j"}, left{"x"})
			}
		}
		stop := start(t, s, sub{contract: Contract{Name: "writer", Doc: "Writes.", Outputs: Emits(added{})}}, worker)
		synctest.Wait()
		s.Dispatch(added{"a"})
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		got := s.Subscribers()
		if got[1].LastErrorAt.IsZero() {
			t.Error("the error has no time")
		}
		got[1].LastErrorAt = time.Time{}
		want := []SubscriberStats{{Name: "writer", Wakes: 1},
			// It is woken at the start, by the change, after the crash, and by its own action. The work that ended in the crash counts
			// only from the restart's first wait on.
			{Name: "worker", Wakes: 4, Reads: 7, Writes: 2, Busy: got[1].Busy, Crashes: 1, LastError: "no tools"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got[1].Busy < 6*time.Second || got[1].Busy > 10*time.Second {
			t.Errorf("busy %s", got[1].Busy)
		}
	})
}

func TestLoopStats(t *testing.T) {
	f := newFixture()
	s := New(f.schema)
	s.Dispatch(added{"a"}, added{"b"})
	if n := s.Loop().Queued; n != 2 {
		t.Errorf("%d queued, want 2", n)
	}
	stamp := s.Dispatch(added{"c"})
	if s.Snapshot().At.Equal(stamp) {
		t.Error("the snapshot holds an action that was not reduced")
	}
	s.Step()
	if s.Snapshot().At.Before(stamp) {
		t.Error("the snapshot does not hold an action that was reduced")
	}
	s.stats.count(1, 3*time.Millisecond)
	s.stats.count(1, time.Second)
	l := s.Loop()
	if l.Actions != 5 || l.Batches != 3 || l.Queued != 0 || l.Slowest != time.Second || l.Last != time.Second || l.Within[3] != 1 || l.Within[5] != 1 {
		t.Errorf("%+v", l)
	}
}

// TestRows checks that a row is equal to itself for as long as its entry does not change.
func TestRows(t *testing.T) {
	f := newFixture()
	s := New(f.schema)
	rows := func() map[string]Row {
		out := map[string]Row{}
		for r := range s.Snapshot().All().Rows("counters") {
			out[r.Metadata().ID] = r
		}
		return out
	}
	s.Dispatch(added{"a"}, added{"b"})
	s.Step()
	before := rows()
	s.Dispatch(added{"b"})
	s.Step()
	after := rows()
	if before["a"] != after["a"] || before["b"] == after["b"] || after["b"].Any() != (counter{2}) {
		t.Errorf("%v, then %v", before, after)
	}
	for range s.Snapshot().All().Rows("none") {
		t.Error("a table that does not exist has rows")
	}
	if infos := f.schema.Tables(); len(infos) != 2 || infos[1].Name != "jobs" || infos[1].Value.Name() != "job" || len(ReadsAll(f.schema)) != 2 {
		t.Errorf("%+v", infos)
	}
}

// TestAside has another goroutine look at snapshots while the subscriber waits: that counts as a read, and not as busy
// time.
func TestAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		s := New(f.schema)
		ready := make(chan *Runtime, 1)
		server := sub{contract: Contract{Name: "server", Doc: "Serves.", Inputs: Reads(f.counters, f.jobs)}}
		server.run = func(ctx context.Context, rt *Runtime) error {
			ready <- rt
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-rt.Wake():
				}
			}
		}
		stop := start(t, s, server, sub{contract: Contract{Name: "writer", Doc: "Writes.", Outputs: Emits(added{}, hired{}, left{})}})
		rt := <-ready
		for range 3 {
			s.Dispatch(added{"a"})
			synctest.Wait()
			f.counters.In(rt.Aside())
			time.Sleep(time.Minute)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if got := s.Subscribers()[0]; got.Reads != 3 || got.Busy != 0 {
			t.Errorf("%d reads, busy %s; want 3 and not at all", got.Reads, got.Busy)
		}
	})
}
