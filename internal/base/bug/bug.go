// Package bug reports what cannot happen: mistakes of hone itself, with the place and the stack, to whoever runs the process.
// A test fails. For a user the process carries on where it can, and says what to report.
package bug

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
)

// Report is a mistake of hone that has shown itself.
type Report struct {
	// What happened, in words for people.
	What string
	// Where is the function and line that noticed it, or that panicked.
	Where string
	// Stack is that of the goroutine.
	Stack string
}

// Error is the report in one line, without the stack.
func (r *Report) Error() string {
	return fmt.Sprintf("this is a bug in hone: %s (at %s); please report it", r.What, r.Where)
}

var _ error = (*Report)(nil)

// taker is what takes reports; nil before a session has set it.
var taker atomic.Pointer[func(*Report)]

// Take makes f take the reports of this process, from any goroutine, until restore is called. Before that they go to standard
// error, and in a test they panic.
func Take(f func(*Report)) (restore func()) {
	before := taker.Swap(&f)
	return func() { taker.Store(before) }
}

// Reportf reports that something has happened that cannot happen. The caller goes on as well as it can.
func Reportf(format string, args ...any) *Report {
	return deliver(&Report{What: fmt.Sprintf(format, args...), Where: place(false), Stack: string(debug.Stack())})
}

// Caught reports a panic. The deferred function that has recovered it calls Caught itself, since the stack still leads to the
// panic then. During says what was being done.
func Caught(during string, recovered any) *Report {
	return deliver(&Report{What: fmt.Sprintf("%s: panic: %v", during, recovered), Where: place(true), Stack: string(debug.Stack())})
}

func deliver(r *Report) *Report {
	switch f := taker.Load(); {
	case f != nil:
		(*f)(r)
	case testing.Testing():
		panic(r.Error() + "\n\n" + r.Stack)
	default:
		fmt.Fprintf(os.Stderr, "%s\n\n%s\n", r.Error(), r.Stack)
	}
	return r
}

// place returns the function and line that called Reportf; of a panic, those that panicked.
func place(panicked bool) string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // without Callers, place and who calls it
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		switch {
		case panicked && f.Function == "runtime.gopanic":
			panicked = false // what follows is where it happened, or the runtime's own check, such as that of an index
		case !panicked && !inRuntime || !more:
			return fmt.Sprintf("%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
		}
	}
}
