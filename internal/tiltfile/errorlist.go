package tiltfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Errors are several faults of one evaluation that have nothing to do with each other, so that they can be mended in one
// go. There are at least two. It converts to a *problem.Problem through errors.As, which shows each as it would stand alone.
type Errors []*Error

var _ error = Errors(nil)

// Error returns the first fault and how many there are.
func (l Errors) Error() string {
	return fmt.Sprintf("%s (the first of %d faults)", l[0].Error(), len(l))
}

// Unwrap returns the faults.
func (l Errors) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}

// As makes errors.As turn the faults into one problem.
func (l Errors) As(target any) bool {
	if p, ok := target.(**problem.Problem); ok {
		*p = l.Problem()
		return true
	}
	return false
}

// shownErrors bounds how many faults are shown in full.
const shownErrors = 20

// Problem shows all faults one below the other, each with its own mend.
func (l Errors) Problem() *problem.Problem {
	var b strings.Builder
	for i, e := range l {
		p := e.Problem()
		switch {
		case i == shownErrors:
			fmt.Fprintf(&b, "\n… and %d more\n", len(l)-shownErrors)
			return &problem.Problem{Summary: l.Error(), Detail: b.String()}
		case i > 0:
			fmt.Fprintf(&b, "\n%s\n\n", p.Summary)
		}
		b.WriteString(p.Detail + "\n")
		if p.Mend != "" {
			b.WriteString("\n  " + strings.ReplaceAll(p.Mend, "\n", "\n  ") + "\n")
		}
		if p.Link != "" {
			b.WriteString("  " + p.Link + "\n")
		}
	}
	return &problem.Problem{Summary: l.Error(), Detail: strings.TrimLeft(b.String(), "\n")}
}

// faults collects errors that have nothing to do with each other.
type faults struct{ list []error }

// add takes an error, or several joined ones; nil is none.
func (f *faults) add(err error) {
	if err != nil {
		f.list = append(f.list, err)
	}
}

// any reports whether there is one.
func (f *faults) any() bool { return len(f.list) > 0 }

// err returns nil, the one error, or all joined.
func (f *faults) err() error {
	if len(f.list) == 1 {
		return f.list[0]
	}
	return errors.Join(f.list...)
}
