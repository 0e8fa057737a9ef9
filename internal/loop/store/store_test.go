package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/bug"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The schema of these tests: counters that are added to, and jobs that come and go and may be held.
type (
	counter struct{ N int }
	job     struct {
		Name  string
		Again bool
	}
	added   struct{ ID string }
	hired   struct{ ID string }
	left    struct{ ID string }
	unknown struct{}
)

type fixture struct {
	schema   *Schema
	counters *Table[counter]
	jobs     *Table[job]
}

func newFixture() fixture {
	s := NewSchema()
	f := fixture{s, Define[counter](s, "counters", "Numbers."), Define[job](s, "jobs", "Jobs.", WithFinalizers())}
	On(f.counters, func(d *Draft[counter], a added) {
		d.Put(a.ID, counter{d.Value(a.ID).N + 1})
	})
	On(f.jobs, func(d *Draft[job], a hired) {
		if e := d.Ref(a.ID); e != nil && e.Phase == TearingDown {
			e.Value.Again = true
			d.Put(a.ID, e.Value)
			return
		}
		d.PutOwned(a.ID, "test", map[string]string{"kind": "job"}, job{Name: a.ID})
	})
	On(f.jobs, func(d *Draft[job], a left) { d.Teardown(a.ID) })
	OnDestroy(f.jobs, func(d *Draft[job], gone Entry[job]) {
		if gone.Value.Again {
			d.Put(gone.ID, job{Name: gone.ID})
		}
	})
	return f
}

// sub is a subscriber made of a contract and a function.
type sub struct {
	contract Contract
	run      func(ctx context.Context, rt *Runtime) error
}

func (s sub) Contract() Contract { return s.contract }

func (s sub) Run(ctx context.Context, rt *Runtime) error {
	if s.run == nil {
		<-ctx.Done()
		return nil
	}
	return s.run(ctx, rt)
}

var quiet = slog.New(slog.DiscardHandler)

// start runs a supervisor inside a synctest bubble and returns the function that stops it.
func start(t *testing.T, s *Store, subs ...Subscriber) (stop func() error) {
	t.Helper()
	sup, err := NewSupervisor(s, quiet, subs...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sup.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// all is a pair of subscribers that makes a contract set complete for newFixture's schema.
func (f fixture) all() []Subscriber {
	return []Subscriber{
		sub{contract: Contract{Name: "writer", Doc: "Writes.", Outputs: Emits(added{}, hired{}, left{})}},
		sub{contract: Contract{Name: "reader", Doc: "Reads.", Inputs: Reads(f.counters, f.jobs)}},
	}
}

func TestBatchPublishesOneSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		s := New(f.schema)
		before := s.Snapshot()
		s.Dispatch(added{"a"}, added{"a"}, added{"b"}) // queued before the loop runs: one batch
		stop := start(t, s, f.all()...)
		synctest.Wait()

		after := s.Snapshot()
		if after.Seq != 1 {
			t.Errorf("seq = %d, want 1: one batch, one snapshot", after.Seq)
		}
		rows := f.counters.In(after.All())
		if got := rows.Value("a").N; got != 2 {
			t.Errorf("a = %d, want 2", got)
		}
		if e := rows.Ref("a"); e.Version != 2 || e.Phase != Running || e.Created.IsZero() || e.Updated.Before(e.Created) {
			t.Errorf("meta of a = %+v", e.Meta)
		}
		if f.counters.In(before.All()).Len() != 0 {
			t.Error("the snapshot from before has changed")
		}
		if after.All().Version("counters") != 1 || after.All().Version("jobs") != 0 {
			t.Error("table versions do not tell which table has changed")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		s.Dispatch(added{"a"}) // after stop: nothing happens, nothing blocks
		if s.Snapshot() != after {
			t.Error("a dispatch after stop was reduced")
		}
	})
}

func TestStampsRiseStrictly(t *testing.T) {
	frozen := time.Unix(1000, 0)
	s := New(newFixture().schema, WithClock(func() time.Time { return frozen }))
	s.Dispatch(added{"a"})
	s.Dispatch(added{"b"})
	batch := s.take(false)
	if !batch[1].at.After(batch[0].at) {
		t.Errorf("stamps %v and %v do not rise", batch[0].at, batch[1].at)
	}
}

func TestUnknownActionIsLoud(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "unknown") {
			t.Errorf("recovered %v, want a panic that names the action", p)
		}
	}()
	New(newFixture().schema).Dispatch(unknown{})
}

// takeBugs collects the bugs that a test expects.
func takeBugs(t *testing.T) *[]*bug.Report {
	var all []*bug.Report
	t.Cleanup(bug.Take(func(r *bug.Report) { all = append(all, r) }))
	return &all
}

func TestUnknownActionIsLeftOut(t *testing.T) {
	bugs := takeBugs(t)
	f := newFixture()
	s := New(f.schema)
	s.Dispatch(added{"a"}, unknown{}, added{"b"})
	s.reduce(s.take(false))
	if v := s.Snapshot().All(); f.counters.In(v).Value("a").N != 1 || f.counters.In(v).Value("b").N != 1 {
		t.Error("the actions beside the unknown one are lost")
	}
	if len(*bugs) != 1 || (*bugs)[0].What != "no table accepts action unknown" {
		t.Errorf("reported %+v", *bugs)
	}
}

// TestBrokenLoopEndsTheSession has a reducer panic: all stop, and Run reports it.
func TestBrokenLoopEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bugs := takeBugs(t)
		f := newFixture()
		On(f.counters, func(*Draft[counter], unknown) { panic("out of range") })
		stopped := false
		patient := sub{Contract{Name: "patient", Doc: "Waits.", Inputs: Reads(f.jobs), Outputs: Emits(unknown{})}, func(ctx context.Context, rt *Runtime) error {
			<-ctx.Done()
			stopped = true
			rt.Dispatch(unknown{}) // a harmless no-op now
			return nil
		}}
		s := New(f.schema)
		sup, err := NewSupervisor(s, quiet, append(f.all(), patient)...)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- sup.Run(t.Context()) }()
		synctest.Wait()
		s.Dispatch(unknown{})
		var r *bug.Report
		if err := <-ended; !errors.As(err, &r) || r.What != "the loop reduced an action: panic: out of range" || !strings.Contains(r.Where, "TestBrokenLoopEndsTheSession") {
			t.Errorf("Run returned %v, want the panic and its place", err)
		}
		if !stopped || len(*bugs) != 1 {
			t.Errorf("stopped: %v; reported: %+v", stopped, *bugs)
		}
	})
}

func TestWakesOnlyReadersOfChangedTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		s := New(f.schema)
		wakes := map[string]*atomic.Int64{"counters": {}, "jobs": {}}
		reader := func(name string, table named) Subscriber {
			return sub{Contract{Name: name, Doc: "Reads.", Inputs: Reads(table)}, func(ctx context.Context, rt *Runtime) error {
				for {
					select {
					case <-rt.Wake():
						wakes[name].Add(1)
					case <-ctx.Done():
						return nil
					}
				}
			}}
		}
		stop := start(t, s, f.all()[0], reader("counters", f.counters), reader("jobs", f.jobs))
		synctest.Wait()
		for range 3 {
			s.Dispatch(added{"a"})
			synctest.Wait()
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if c, j := wakes["counters"].Load(), wakes["jobs"].Load(); c != 4 || j != 1 {
			t.Errorf("counters woken %d times, jobs %d; want 4 and 1: one at the start, one per change", c, j)
		}
	})
}

func TestContractIsEnforced(t *testing.T) {
	f := newFixture()
	for name, act := range map[string]func(rt *Runtime){
		"read table jobs":                    func(rt *Runtime) { f.jobs.In(rt.View()) },
		"emit action hired":                  func(rt *Runtime) { rt.Dispatch(hired{"x"}) },
		"release an entry of table counters": func(rt *Runtime) { rt.Release(f.counters, "x") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(f.schema)
				var got error
				sup, err := NewSupervisor(s, quiet, append(f.all(), sub{contract: Contract{Name: "bad", Doc: "Errs.", Inputs: Reads(f.counters)}})...)
				if err != nil {
					t.Fatal(err)
				}
				bugs := takeBugs(t)
				bad := sup.tasks[2]
				bad.sub = sub{bad.contract, func(ctx context.Context, rt *Runtime) error { act(rt); return nil }}
				got = sup.runOnce(t.Context(), bad)
				var undeclared *UndeclaredError
				if !errors.As(got, &undeclared) || undeclared.What != name || undeclared.Subscriber != "bad" {
					t.Errorf("error = %v, want *UndeclaredError for %q", got, name)
				}
				if len(*bugs) != 1 || !strings.Contains((*bugs)[0].What, name) {
					t.Errorf("reported %+v, want what was undeclared", *bugs)
				}
			})
		})
	}
}

func TestFinalizersDelayDestruction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		s := New(f.schema)
		let := map[string]chan struct{}{"one": make(chan struct{}), "two": make(chan struct{})}
		holder := func(name string) Subscriber {
			return sub{Contract{Name: name, Doc: "Holds.", Inputs: Holds(f.jobs)}, func(ctx context.Context, rt *Runtime) error {
				select {
				case <-let[name]:
					rt.Release(f.jobs, "j")
				case <-ctx.Done():
					return nil
				}
				<-ctx.Done()
				return nil
			}}
		}
		stop := start(t, s, append(f.all(), holder("one"), holder("two"))...)
		state := func() (out string) {
			synctest.Wait()
			e := f.jobs.In(s.Snapshot().All()).Ref("j")
			if e == nil {
				return "gone"
			}
			return fmt.Sprintf("%s %v v%d again=%v", e.Phase, e.Finalizers, e.Version, e.Value.Again)
		}
		var got []string
		step := func(f func()) {
			f()
			got = append(got, state())
		}
		step(func() { s.Dispatch(hired{"j"}) })
		step(func() { s.Dispatch(left{"j"}) })
		step(func() { s.Dispatch(left{"j"}) }) // a second time has no effect
		step(func() { close(let["one"]) })
		step(func() { s.Dispatch(hired{"j"}) }) // declared again while being torn down
		step(func() { close(let["two"]) })      // destroyed, and then new
		want := []string{
			"running [one two] v1 again=false",
			"tearing-down [one two] v2 again=false",
			"tearing-down [one two] v2 again=false",
			"tearing-down [two] v3 again=false",
			"tearing-down [two] v4 again=true",
			"running [one two] v1 again=false",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("life of the entry:\n%s", diff)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestReleasesWakeThoseWhoAsk counts the subscribers that are woken by a release after which others still hold the entry, and by
// the last one.
func TestReleasesWakeThoseWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		s := New(f.schema)
		wakes := map[string]*atomic.Int64{"weak": {}, "asks": {}}
		reader := func(name string, inputs []Input) Subscriber {
			return sub{Contract{Name: name, Doc: "Reads.", Inputs: inputs}, func(ctx context.Context, rt *Runtime) error {
				for {
					select {
					case <-ctx.Done():
						return nil
					case <-rt.Wake():
						wakes[name].Add(1)
					}
				}
			}}
		}
		let := make(chan string)
		holder := func(name string) Subscriber {
			return sub{Contract{Name: name, Doc: "Holds.", Inputs: Holds(f.jobs)}, func(ctx context.Context, rt *Runtime) error {
				select {
				case id := <-let:
					rt.Release(f.jobs, id)
				case <-ctx.Done():
					return nil
				}
				<-ctx.Done()
				return nil
			}}
		}
		stop := start(t, s, append(f.all(), holder("one"), holder("two"), reader("weak", Reads(f.jobs)), reader("asks", WithReleases(Reads(f.jobs))))...)
		outside, end := s.Watch("jobs")
		<-outside
		steps := []func(){
			func() { s.Dispatch(hired{"j"}) },
			func() { s.Dispatch(left{"j"}) },
			func() { let <- "j" },
			func() { let <- "j" },
		}
		var got []string
		for _, step := range steps {
			synctest.Wait()
			before := [2]int64{wakes["weak"].Load(), wakes["asks"].Load()}
			step()
			synctest.Wait()
			seen := 0
			select {
			case <-outside:
				seen = 1
			default:
			}
			got = append(got, fmt.Sprint(wakes["weak"].Load()-before[0], wakes["asks"].Load()-before[1], seen))
		}
		if diff := cmp.Diff([]string{"1 1 1", "1 1 1", "0 1 1", "1 1 1"}, got); diff != "" {
			t.Errorf("wakes of a reader, a reader of releases, and a watcher from outside:\n%s", diff)
		}
		end()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestSupervisorRestartsWithBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bugs := takeBugs(t)
		f := newFixture()
		var starts []time.Duration
		begin := time.Now()
		s := New(f.schema)
		crashing := sub{Contract{Name: "crashing", Doc: "Crashes.", Inputs: Reads(f.jobs)}, func(ctx context.Context, rt *Runtime) error {
			starts = append(starts, time.Since(begin))
			switch len(starts) {
			case 1:
				panic("boom")
			case 2, 3:
				return errors.New("broken")
			}
			<-ctx.Done()
			return nil
		}}
		stop := start(t, s, append(f.all(), crashing)...)
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		s.Dispatch(added{"a"})
		synctest.Wait()
		if f.counters.In(s.Snapshot().All()).Value("a").N != 1 {
			t.Error("the loop did not keep running while a subscriber crashed")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if len(starts) != 4 {
			t.Fatalf("started %d times, want 4", len(starts))
		}
		if len(*bugs) != 1 || (*bugs)[0].What != "run crashing: panic: boom" || !strings.Contains((*bugs)[0].Stack, "TestSupervisorRestartsWithBackoff") {
			t.Errorf("reported %+v, want the panic alone, with its stack", *bugs)
		}
		for i, least := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
			if i > 0 && starts[i]-starts[i-1] < least {
				t.Errorf("pause %d was %s, want at least %s", i, starts[i]-starts[i-1], least)
			}
		}
	})
}

func TestStopIsOrderedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		var order []string
		at := func(name string, stage Stage) Subscriber {
			return sub{Contract{Name: name, Doc: "Stops.", Stage: stage, Inputs: Reads(f.jobs)}, func(ctx context.Context, rt *Runtime) error {
				<-ctx.Done()
				order = append(order, name)
				return nil
			}}
		}
		release := make(chan struct{})
		stuck := sub{Contract{Name: "stuck", Doc: "Hangs.", Stage: StageWatch, Inputs: Reads(f.jobs)}, func(context.Context, *Runtime) error {
			<-release
			return nil
		}}
		stop := start(t, New(f.schema), append(f.all(), at("view", StageView), at("input", StageInput), at("controller", StageController), stuck)...)
		synctest.Wait()
		err := stop()
		if err == nil || !strings.Contains(err.Error(), "stuck") {
			t.Errorf("error = %v, want one that names what did not stop", err)
		}
		if diff := cmp.Diff([]string{"input", "controller", "view"}, order); diff != "" {
			t.Errorf("order:\n%s", diff)
		}
		close(release)
	})
}

// TestStopLeavesTheTimeThatIsClaimed waits longer, but not forever, for a subscriber whose contract claims more time.
func TestStopLeavesTheTimeThatIsClaimed(t *testing.T) {
	for took, claimed := range map[time.Duration]bool{20 * time.Second: true, 40 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			slow := sub{Contract{Name: "slow", Doc: "Takes its time.", Stage: StageController, Grace: 30 * time.Second, Inputs: Reads(f.jobs)}, func(ctx context.Context, _ *Runtime) error {
				<-ctx.Done()
				time.Sleep(took)
				return nil
			}}
			stop := start(t, New(f.schema), append(f.all(), slow)...)
			synctest.Wait()
			begin := time.Now()
			err := stop()
			if spent := min(took, 30*time.Second); time.Since(begin) != spent || (err == nil) != claimed {
				t.Errorf("took %s: stopped after %s, want %s; error %v", took, time.Since(begin), spent, err)
			}
			if err != nil && !strings.Contains(err.Error(), "slow (30s)") {
				t.Errorf("the error does not name who takes how long: %v", err)
			}
			time.Sleep(took) // until it is gone
		})
	}
}

func TestVerify(t *testing.T) {
	f := newFixture()
	reads, holds := Reads(f.counters, f.jobs), Holds(f.jobs)
	writer := Contract{Name: "writer", Doc: "Writes.", Outputs: Emits(added{}, hired{}, left{})}
	reader := Contract{Name: "reader", Doc: "Reads.", Inputs: reads}
	with := func(c Contract, change func(*Contract)) Contract { change(&c); return c }
	for _, tc := range []struct {
		name      string
		contracts []Contract
		want      string
	}{
		{"sound", []Contract{writer, reader}, ""},
		{"sound with a holder", []Contract{writer, reader, {Name: "holder", Doc: "Holds.", Inputs: holds}}, ""},
		{"no name", []Contract{writer, reader, {Doc: "D."}}, "a subscriber has no name"},
		{"no doc", []Contract{writer, reader, {Name: "x"}}, `subscriber "x" has no doc sentence`},
		{"names unique", []Contract{writer, reader, reader}, `two subscribers are called "reader"`},
		{"unknown table", []Contract{writer, reader, {Name: "x", Doc: "D.", Inputs: []Input{{Table: "nowhere"}}}},
			`subscriber "x" reads table "nowhere", which does not exist`},
		{"declared twice", []Contract{writer, reader, {Name: "x", Doc: "D.", Inputs: Reads(f.jobs, f.jobs)}},
			`subscriber "x" declares table "jobs" twice`},
		{"strong without finalizers", []Contract{writer, reader, {Name: "x", Doc: "D.", Inputs: Holds(f.counters)}},
			`subscriber "x" holds table "counters", which has no finalizers`},
		{"action without table", []Contract{writer, reader, {Name: "x", Doc: "D.", Outputs: Emits(unknown{})}},
			`subscriber "x" emits unknown, which no table accepts`},
		{"second emitter of an exclusive action", []Contract{writer, reader, {Name: "x", Doc: "D.", Outputs: Emits(added{})}},
			"exclusive action added is emitted by writer and x"},
		{"exclusive and shared mixed", []Contract{writer, reader, {Name: "x", Doc: "D.", Outputs: Shares(added{})}},
			"action added is shared for some and exclusive for others of writer, x"},
		{"dead action", []Contract{with(writer, func(c *Contract) { c.Outputs = Emits(added{}, hired{}) }), reader},
			"no subscriber emits left, which jobs accepts"},
		{"table without reader", []Contract{writer, with(reader, func(c *Contract) { c.Inputs = Reads(f.jobs) })},
			`no subscriber reads table "counters"`},
		{"cycle without a reason", []Contract{with(writer, func(c *Contract) { c.Inputs = Reads(f.counters) }), reader},
			`subscriber "writer" reads table "counters" and changes it by added without a Feedback reason`},
		{"calls nobody", []Contract{with(writer, func(c *Contract) { c.Calls = []Call{{"ghost", "it must"}} }), reader},
			`subscriber "writer" calls "ghost", which is not another subscriber`},
		{"calls itself", []Contract{with(writer, func(c *Contract) { c.Calls = []Call{{"writer", "it must"}} }), reader},
			`subscriber "writer" calls "writer", which is not another subscriber`},
		{"calls without a reason", []Contract{with(writer, func(c *Contract) { c.Calls = []Call{{"reader", ""}} }), reader},
			`subscriber "writer" calls "reader" without a reason`},
		{"calls with a reason", []Contract{with(writer, func(c *Contract) { c.Calls = []Call{{"reader", "it must"}} }), reader}, ""},
		{"cycle with a reason", []Contract{with(writer, func(c *Contract) { c.Inputs, c.Feedback = Reads(f.counters), "it ends" }), reader}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got string
			if err := errors.Join(Verify(f.schema, tc.contracts)...); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestVerifyStopsTheStart(t *testing.T) {
	f := newFixture()
	_, err := NewSupervisor(New(f.schema), quiet, f.all()[0])
	if err == nil || !strings.Contains(err.Error(), `no subscriber reads table "jobs"`) {
		t.Errorf("error = %v", err)
	}
}

func BenchmarkDispatchReduce(b *testing.B) {
	f := newFixture()
	s := New(f.schema)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = fmt.Sprintf("resource-%d", i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		s.Dispatch(added{ids[i%len(ids)]})
	}
	cancel()
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "actions/s")
}
