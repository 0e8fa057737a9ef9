package up

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/heap"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// TestCollectInPauses fills the heap by less than the collector's limit, and waits for a collection after a change.
func TestCollectInPauses(t *testing.T) {
	if heap.Configured() {
		t.Skip("the environment sets the collector up")
	}
	for _, tc := range []struct {
		name string
		live int
		idle time.Duration
	}{{"much garbage", 32 << 20, 4 * quiet}, {"little garbage", 8 << 20, 2 * calm}} {
		t.Run(tc.name, func(t *testing.T) { collectsInPauses(t, tc.live, tc.idle) })
	}
}

func collectsInPauses(t *testing.T, bytes int, idle time.Duration) {
	live := make([]byte, bytes)
	runtime.GC()
	heap.Percent(77)
	defer heap.Percent(100)
	before := forced()
	percent := func() uint64 { _, p := garbage(); return p }
	st := store.New(state.Schema)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		collectInPauses(ctx, st)
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; forced() == before; i++ {
		for made := percent(); made < 3*enough/2 && percent() >= made; { // until there is enough, or the collector worked
			runtime.KeepAlive(make([]byte, 1<<20))
			made = max(made, percent())
		}
		st.Dispatch(state.ForwardChanged{ID: fmt.Sprint("a/", i), Forward: state.Forward{Resource: "a", State: state.ForwardReady}})
		st.Step()
		for began := time.Now(); time.Since(began) < idle && forced() == before; {
			<-tick.C
		}
	}
	cancel()
	<-ended
	if got := heap.Percent(77); got != 77 {
		t.Errorf("afterwards it is set up to %d", got)
	}
	runtime.KeepAlive(live)
}

// forced returns the number of forced collections.
func forced() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumForcedGC
}

func TestLimitFor(t *testing.T) {
	for inUse, want := range map[uint64]int{0: 200, 8: 200, 10: 200, 14: 200, 15: 250, 20: 300, 25: 200, 40: 100, 50: 50, 60: 50, 80: 50, 4000: 50} {
		if got := limitFor(inUse << 20); got != want {
			t.Errorf("%d MB: %d, want %d", inUse, got, want)
		}
	}
}
