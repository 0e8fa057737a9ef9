// Package bug reports bugs in hone itself, situations that cannot happen, with the place and the stack. In a test, a report
// fails the test. For a user, the process continues where it can and prints the text to report.
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

// Report is a bug that has been noticed.
type Report struct {
	// What describes the bug in a few words for the user.
	What string
	// Where is the function and line that noticed it, or that panicked.
	Where string
	// Stack is the stack of the goroutine.
	Stack string
}

// Error is the report in one line, without the stack.
func (r *Report) Error() string {
	return fmt.Sprintf("this is a bug in hone: %s (at %s); please report it", r.What, r.Where)
}

var _ error = (*Report)(nil)

// taker receives the reports; nil before a session has set it.
var taker atomic.Pointer[func(*Report)]

// Take makes f receive the reports of this process, on any goroutine, until restore is called. Without a receiver, reports go
// to standard error, and in a test they panic.
func Take(f func(*Report)) (restore func()) {
	before := taker.Swap(&f)
	return func() { taker.Store(before) }
}

// Reportf reports a situation that cannot happen. The caller continues as well as it can.
func Reportf(format string, args ...any) *Report {
	return deliver(&Report{What: fmt.Sprintf(format, args...), Where: place(false), Stack: string(debug.Stack())})
}

// Caught reports a recovered panic. The deferred function that recovered it must call Caught itself, while the stack still
// leads to the panic. The argument during names the operation that panicked.
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

// place returns the function and line that called Reportf, or, if panicked is set, that panicked.
func place(panicked bool) string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // without Callers, place and who calls it
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		switch {
		case panicked && f.Function == "runtime.gopanic":
			panicked = false // the next frames lead to the panic, past checks of the runtime such as an index check
		case !panicked && !inRuntime || !more:
			return fmt.Sprintf("%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
		}
	}
}
