// Package heap decides when the garbage collector of a process runs for the first time.
//
// Most commands end before they have used 20 MB. With the collector's usual settings, two collections fall into the initialisation of the
// program's packages alone, which makes 5 MB of garbage: a third of the processor time of the shortest command, and 15 ms of the start of a
// session on two cores.
//
// # Concurrency
//
// The package starts no goroutines. A goroutine of the runtime calls one function of it after the first collection. The functions may be
// called from any goroutine.
package heap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

const (
	// first is the memory of the process, in bytes, at which the collector runs for the first time.
	first = 32 << 20
	// late is the same for a process that asks for it: several times the memory for showing 1,000 resources as JSON.
	late = 256 << 20
	// usual is the amount of garbage, in percent of the memory in use, at which the runtime's collector runs unless it is told otherwise.
	usual = 100
)

// waiting is set until the collector works as usual, or as Percent has told it. Guarded by mu.
var (
	mu      sync.Mutex
	waiting bool
)

// sentinel is an object that nothing refers to, so that the first collection frees it. It has a pointer and 16 bytes: the runtime may keep
// smaller ones together with others.
type sentinel struct{ _, _ *byte }

// init comes before most other packages are initialised: Go initialises packages by their dependencies, and then by their paths.
func init() {
	if Configured() {
		return
	}
	waiting = true
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(first)
	runtime.AddCleanup(new(sentinel), func(percent int) {
		mu.Lock()
		defer mu.Unlock()
		if waiting {
			set(percent)
		}
	}, usual)
}

// Configured reports whether the environment configures the collector, which then is left as it is.
func Configured() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// CollectLate puts the first collection off further, for a process that lives for some ten milliseconds: with 1,000 resources the collector
// took a third of the time.
func CollectLate() {
	mu.Lock()
	defer mu.Unlock()
	if waiting {
		debug.SetMemoryLimit(late)
	}
}

// Percent makes the collector run at an amount of garbage, in percent of the memory in use, from now on. It returns the amount before.
func Percent(percent int) (before int) {
	mu.Lock()
	defer mu.Unlock()
	return set(percent)
}

// set does the work of Percent. mu is held.
func set(percent int) (before int) {
	before = debug.SetGCPercent(percent)
	if waiting {
		debug.SetMemoryLimit(math.MaxInt64)
		waiting, before = false, usual
	}
	return before
}
