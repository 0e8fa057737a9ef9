package dialect

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"go.starlark.net/starlark"
)

// Limits bound the resources of an evaluation, so that an endless program is an error instead of exhausting the
// machine.
type Limits struct {
	// Steps bounds the steps of the interpreter, which are some ten million in a second.
	Steps uint64
	// Memory bounds the growth of the memory in use, in bytes.
	Memory uint64
}

// Most are the limits of an evaluation.
var Most = Limits{Steps: 500_000_000, Memory: 512 << 20}

// Bound makes a thread stop when one of its values is nested too deep, or when it takes too many steps.
func (l Limits) Bound(thread *starlark.Thread) {
	thread.SetMaxExecutionSteps(min(stepsBetween, l.Steps))
	thread.OnMaxSteps = func(thread *starlark.Thread) {
		if thread.Steps >= l.Steps {
			thread.Cancel(fmt.Sprintf("the program has taken %d steps, which is the most that a Tiltfile may take: is there a loop without an end?", l.Steps))
			return
		}
		thread.SetMaxExecutionSteps(min(thread.Steps+stepsBetween, l.Steps))
		d := diver{looks: mostLooks, path: map[any]bool{}}
		if d.thread(thread) {
			thread.Cancel(tooDeep)
		}
	}
}

// sampleTime is the time between two looks at the memory in use. A value that doubles passes the limit within one step,
// which nothing can interrupt, and at most doubles once more until the thread stops.
const sampleTime = 5 * time.Millisecond

// WatchMemory makes a thread stop when the memory in use has grown too much. Garbage does not count: it is collected
// first, while the program goes on. Only growth to twice the limit stops the thread without a collection. The caller
// must stop the watch.
func (l Limits) WatchMemory(thread *starlark.Thread) (stop func()) {
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		l.watch(thread, stopped)
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

// watch compares the memory in use with the limit until stopped is closed. Beyond the limit, it runs the garbage
// collector, and cancels the thread if that does not free enough. Beyond twice the limit, it cancels the thread at
// once.
func (l Limits) watch(thread *starlark.Thread, stopped <-chan struct{}) {
	before := inUse()
	tick := time.NewTicker(sampleTime)
	defer tick.Stop()
	collected := make(chan struct{}, 1)
	collecting := false
	defer func() {
		if collecting {
			<-collected
		}
	}()
	for {
		clean := false
		select {
		case <-stopped:
			return
		case <-collected:
			collecting, clean = false, true
		case <-tick.C:
		}
		switch used := inUse(); {
		case used < before+l.Memory:
		case clean, used >= before+2*l.Memory:
			thread.Cancel(fmt.Sprintf("the program uses more than %d MiB of memory, which is the most that a Tiltfile may use", l.Memory>>20))
			return
		case !collecting:
			collecting = true
			go func() {
				runtime.GC()
				collected <- struct{}{}
			}()
		}
	}
}

// inUse returns the bytes of all objects on the heap, those included that have not been collected yet.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
