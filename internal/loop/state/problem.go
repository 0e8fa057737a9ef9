package state

import (
	"errors"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Problem is what is wrong, why, and what mends it, as far as that is known.
type Problem struct {
	// Summary is one line. Detail is output or source text that belongs to it.
	Summary, Cause, Detail, Mend, Link string
}

// Text returns all of it for people.
func (p Problem) Text() string {
	var cause error
	if p.Cause != "" {
		cause = errors.New(p.Cause)
	}
	return problem.Text(&problem.Problem{Summary: p.Summary, Cause: cause, Detail: p.Detail, Mend: p.Mend, Link: p.Link})
}

// ProblemOf makes a Problem of an error: of the one in its chain, where there is one.
func ProblemOf(err error) Problem {
	p, ok := problem.Of(err)
	if !ok {
		return problemText(err.Error())
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

// problemText makes a Problem of what is told in words only.
func problemText(text string) Problem {
	summary, detail, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return Problem{Summary: summary, Detail: strings.TrimSpace(detail)}
}
