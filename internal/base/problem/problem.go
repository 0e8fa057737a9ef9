// Package problem describes situations that the user can act on: the trouble, its cause, and the way to fix it.
//
// A Problem is an error, so it is returned like any other error. Code that prints an error calls Of for the problem in
// its chain and shows all parts. Errors without a problem in their chain are not for the user to fix.
package problem

import (
	"errors"
	"strings"
)

// Problem is a situation that the user can act on.
type Problem struct {
	// Summary states the trouble in one line, with the name of the thing: `cannot reach cluster "kind-dev"`.
	Summary string
	// Cause is the underlying error, if any.
	Cause error
	// Mend tells the user how to fix it, including the command or line to paste.
	Mend string
	// Link leads to further reading: a command that shows it, or an address.
	Link string
	// Detail is output or source text that belongs to the problem, of any number of lines.
	Detail string
	// Output is the last lines of output of the failed command. It is already in the log of that command, so Text omits
	// it.
	Output string
}

// New returns a problem without a cause.
func New(summary, mend string) *Problem { return &Problem{Summary: summary, Mend: mend} }

// Wrap returns a problem with a cause.
func Wrap(cause error, summary, mend string) *Problem {
	return &Problem{Summary: summary, Cause: cause, Mend: mend}
}

// See sets the page of the documentation about the problem, by its topic, and returns p.
func (p *Problem) See(topic string) *Problem {
	p.Link = "hone docs " + topic
	return p
}

// Error returns summary and cause in one line.
func (p *Problem) Error() string {
	if p.Cause == nil {
		return p.Summary
	}
	return p.Summary + ": " + p.Cause.Error()
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// Of returns the outermost problem in err's chain.
func Of(err error) (*Problem, bool) {
	var p *Problem
	ok := errors.As(err, &p)
	return p, ok
}

// Text formats err for users: the whole message, the detail, and the mend if there is one. Joined errors are formatted
// one by one; the same mend of consecutive errors appears only once.
func Text(err error) string {
	all := split(err)
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = text(e)
		if i+1 < len(all) && advice(e) == advice(all[i+1]) {
			texts[i] = e.Error()
		}
	}
	return strings.Join(texts, "\n")
}

// split returns the errors that errors.Join has put together.
func split(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error }) // an error that wraps a join has its own message
	if !ok {
		return []error{err}
	}
	var out []error
	var lines []string
	for _, e := range joined.Unwrap() {
		out = append(out, split(e)...)
		lines = append(lines, e.Error())
	}
	if err.Error() != strings.Join(lines, "\n") {
		return []error{err} // not a join, but an error with several causes
	}
	return out
}

// advice returns the text of err without its message.
func advice(err error) string { return strings.TrimPrefix(text(err), err.Error()) }

// text formats one error.
func text(err error) string {
	var b strings.Builder
	b.WriteString(err.Error())
	p, ok := Of(err)
	if !ok {
		return b.String()
	}
	if p.Detail != "" {
		b.WriteString("\n\n" + strings.TrimRight(p.Detail, "\n") + "\n")
	}
	if p.Mend != "" {
		b.WriteString("\n  " + strings.ReplaceAll(p.Mend, "\n", "\n  "))
	}
	if p.Link != "" {
		b.WriteString("\n  more: " + p.Link)
	}
	return b.String()
}

var _ error = (*Problem)(nil)
