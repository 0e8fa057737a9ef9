package up

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// TestCollectInPauses fills the heap by less than the collector's limit, and waits for a collection after a change.
func TestCollectInPauses(t *testing.T) {
	if command.CollectorSet() {
		t.Skip("the environment sets the collector up")
	}
	live := make([]byte, 8<<20)
	runtime.GC()
	before, percent := forced(), debug.SetGCPercent(77)
	defer debug.SetGCPercent(percent)
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
		for made := garbage(); made < 3*enough/2 && garbage() >= made; { // until there is enough, or the collector worked
			runtime.KeepAlive(make([]byte, 1<<20))
			made = max(made, garbage())
		}
		st.Dispatch(state.ForwardChanged{ID: fmt.Sprint("a/", i), Forward: state.Forward{Resource: "a", State: state.ForwardReady}})
		st.Step()
		for range 20 {
			<-tick.C
		}
	}
	cancel()
	<-ended
	if got := debug.SetGCPercent(77); got != 77 {
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
