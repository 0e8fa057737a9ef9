//go:build linux

package synclet

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestUpdatesTravelBehindEachOther sends an update while the answer to the one before is on its way. An update that changes one of
// its paths waits for the answer, because its differences are based on the content that the container has then.
func TestUpdatesTravelBehindEachOther(t *testing.T) {
	r := newRig(t)
	text := random(1, 20<<10) // so large that a change travels as a difference
	r.write("a", string(text))
	r.apply("a")
	open := r.hold()
	start := func(names ...string) chan Report {
		done := make(chan Report, 1)
		b := r.batch(names...)
		go func() {
			defer close(done)
			if rep, err := r.Apply(r.Context(), b); err != nil {
				t.Error(err)
			} else {
				done <- rep
			}
		}()
		return done
	}
	arrives := func(name, want string) {
		t.Helper()
		k8stest.Eventually(t, name+" to arrive", func() error {
			if is, err := os.ReadFile(filepath.Join(r.remote, name)); err != nil || string(is) != want {
				return errors.New("not yet")
			}
			return nil
		})
	}
	text[10<<10]++
	r.write("a", string(text))
	first := start("a")
	arrives("a", string(text))
	r.write("b", "new")
	second := start("b")
	arrives("b", "new")

	text[5<<10]++
	r.write("a", string(text))
	third := start("a")
	r.write("c", "new")
	fourth := start("c")
	if got := r.inFlightNow(); got != 2 {
		t.Errorf("%d updates are under way, and not the first two", got)
	}
	for name, done := range map[string]chan Report{"the first": first, "the second": second, "the third": third, "the fourth": fourth} {
		select {
		case <-done:
			t.Errorf("%s ended without its answer", name)
		default:
		}
	}
	open()
	for _, done := range []chan Report{first, second, third, fourth} {
		if rep := <-done; rep.Files != 1 || rep.Same != 0 {
			t.Errorf("%+v", rep)
		}
	}
	arrives("a", string(text))
	arrives("c", "new")
	if rep := r.apply("a", "b", "c"); rep.Files != 0 || rep.Same != 3 {
		t.Errorf("afterwards, something differs: %+v", rep)
	}
	if got := r.inFlightNow(); got != 0 {
		t.Errorf("%d updates are under way when all have ended", got)
	}
}

// TestUpdateBehindOneThatFails has an update arrive behind one that does not.
func TestUpdateBehindOneThatFails(t *testing.T) {
	r := newRig(t)
	check(t, os.MkdirAll(filepath.Join(r.remote, "a/full"), 0o755))
	r.write("a", "not a folder")
	r.write("b", "new")
	open := r.hold()
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.Apply(r.Context(), r.batch("a"))
		first <- err
	}()
	k8stest.Eventually(t, "the first one to be under way", func() error {
		if r.inFlightNow() != 1 {
			return errors.New("not yet")
		}
		return nil
	})
	go func() {
		_, err := r.Apply(r.Context(), r.batch("b"))
		second <- err
	}()
	k8stest.Eventually(t, "the second one to arrive", func() error {
		_, err := os.Stat(filepath.Join(r.remote, "b"))
		return err
	})
	open()
	var faults *FaultError
	if err := <-first; !errors.As(err, &faults) {
		t.Error(err)
	}
	check(t, <-second)
}

// TestUpdatesUnderWayEndWithTheirConversation cuts the connection while two are under way and a third waits for them.
func TestUpdatesUnderWayEndWithTheirConversation(t *testing.T) {
	r := newRig(t)
	open := r.hold()
	results := make(chan error, 3)
	start := func(name string) {
		r.write(name, "new")
		b := r.batch(name)
		go func() {
			_, err := r.Apply(r.Context(), b)
			results <- err
		}()
		k8stest.Eventually(t, name+" to arrive", func() error {
			_, err := os.Stat(filepath.Join(r.remote, name))
			return err
		})
	}
	start("a")
	start("b")
	start("a")
	r.cut(errors.New("cut by the test"))
	open()
	for range 3 {
		if err := <-results; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

// TestLineMeasuresOneAtATime takes no rate from updates that overlap.
func TestLineMeasuresOneAtATime(t *testing.T) {
	send := func(l *line) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.travelled += measured
	}
	l := &line{latency: time.Millisecond}
	first := l.begin()
	send(l)
	second := l.begin()
	send(l)
	l.arrived(time.Second)
	first()
	l.arrived(time.Second)
	second()
	if l.rate != 0 {
		t.Errorf("rate %g of two that overlap", l.rate)
	}
	alone := l.begin()
	send(l)
	l.arrived(1001 * time.Millisecond)
	alone()
	if l.rate != measured {
		t.Errorf("rate %g of one alone", l.rate)
	}
}

// hold holds all answers back until the returned function is called.
func (r *rig) hold() (open func()) {
	gate := make(chan struct{})
	r.gate.Store(&gate)
	return func() {
		r.gate.Store(nil)
		close(gate)
	}
}

// inFlightNow returns how many updates are under way.
func (r *rig) inFlightNow() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.inFlight)
}
