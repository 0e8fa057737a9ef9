package eval

import (
	"context"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// ServedPatience is the time that an evaluation waits for the cluster to name its version and its APIs.
const ServedPatience = 5 * time.Second

// servedNote is the beginning of the key under which the memo keeps the last answer of a cluster. The context follows.
const servedNote = "what the cluster serves: "

// Served asks a cluster once for its version and the APIs that it serves.
type Served struct {
	// Context is the context of a declared cluster; empty for the session's own.
	Context string
	// Ask asks the cluster; nil if there is none.
	Ask    func(context.Context) (model.Capabilities, error)
	asked  bool
	answer model.Capabilities
}

// Told returns what the evaluation was told, or nil if it has not asked.
func (s *Served) Told() *model.Capabilities {
	if !s.asked {
		return nil
	}
	return &s.answer
}

// title names the cluster in a sentence.
func (s *Served) title() string { return strings.TrimSpace("the cluster " + s.Context) }

// Capabilities returns a cluster's version and APIs, for a call at a place. When the cluster does not answer, the last
// known answer stands, so that an outage does not change the declarations of a Tiltfile; without one, the answer is
// empty, and the user is warned.
func (e *Evaluation) Capabilities(at fault.Site, c *Served) model.Capabilities {
	if c.asked || c.Ask == nil {
		return c.answer
	}
	c.asked = true
	ctx, cancel := context.WithTimeout(e.Context, ServedPatience)
	defer cancel()
	over := e.Awaiting(c.title() + " to say what it serves")
	answer, err := c.Ask(ctx)
	over()
	if err == nil {
		c.answer = answer
		e.Memo.SetNote(servedNote+c.Context, func(any) any { return answer })
		return answer
	}
	last, known := e.Memo.Note(servedNote + c.Context).(model.Capabilities)
	if !known {
		e.Warn(at, "helm: %s does not say what it serves, so .Capabilities has the defaults of helm, and the chart may leave out objects until it does: %v", c.title(), err)
	}
	c.answer = last
	return last
}
