package fault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Errors are several independent errors of one evaluation, so that the user can fix them in one go. There are at least
// two. They convert to a *problem.Problem through errors.As, which shows each as it would appear alone.
type Errors []*Error

var _ error = Errors(nil)

// Error returns the first error and the number of errors.
func (l Errors) Error() string {
	return fmt.Sprintf("%s (the first of %d errors)", l[0].Error(), len(l))
}

// Unwrap returns the errors.
func (l Errors) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}

// As makes errors.As turn the errors into one problem.
func (l Errors) As(target any) bool {
	if p, ok := target.(**problem.Problem); ok {
		*p = l.Problem()
		return true
	}
	return false
}

// ShownErrors is the number of errors that are shown in full.
const ShownErrors = 20

// Problem shows the errors one below the other, each with its own mend.
func (l Errors) Problem() *problem.Problem {
	var b strings.Builder
	for i, e := range l {
		p := e.Problem()
		switch {
		case i == ShownErrors:
			fmt.Fprintf(&b, "\n… and %d more\n", len(l)-ShownErrors)
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

// List collects independent errors.
type List struct{ list []error }

// Add adds an error, or several joined ones; nil adds none.
func (f *List) Add(err error) {
	if err != nil {
		f.list = append(f.list, err)
	}
}

// Any reports whether there is an error.
func (f *List) Any() bool { return len(f.list) > 0 }

// Err returns nil, the one error, or all joined.
func (f *List) Err() error {
	if len(f.list) == 1 {
		return f.list[0]
	}
	return errors.Join(f.list...)
}

// Tail returns at most the given number of lines from the end of a text, for the detail of a problem. An ellipsis
// stands for the others.
func Tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > lines {
		all = append([]string{"…"}, all[len(all)-lines:]...)
	}
	return strings.Join(all, "\n")
}
