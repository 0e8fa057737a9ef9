package state

import (
	"errors"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Problem describes a fault, its cause and its mend, as far as known.
type Problem struct {
	// Summary is one line. Detail is output or source text that belongs to it.
	Summary, Cause, Detail, Mend, Link string
}

// Text returns the whole problem for people.
func (p Problem) Text() string {
	var cause error
	if p.Cause != "" {
		cause = errors.New(p.Cause)
	}
	return problem.Text(&problem.Problem{Summary: p.Summary, Cause: cause, Detail: p.Detail, Mend: p.Mend, Link: p.Link})
}

// ProblemOf makes a Problem from an error: from the problem in its chain, if there is one.
func ProblemOf(err error) Problem {
	p, ok := problem.Of(err)
	if !ok {
		return ProblemText(err.Error())
	}
	detail := p.Detail
	if p.Output != "" {
		detail = strings.TrimRight(p.Output+"\n\n"+detail, "\n")
	}
	out := Problem{Summary: p.Summary, Detail: detail, Mend: p.Mend, Link: p.Link}
	if p.Cause != nil {
		out.Cause = p.Cause.Error()
	}
	return out
}

// ProblemText makes a Problem from plain text.
func ProblemText(text string) Problem {
	summary, detail, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return Problem{Summary: summary, Detail: strings.TrimSpace(detail)}
}
