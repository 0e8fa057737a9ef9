package eval

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// ServedPatience is the time that an evaluation waits for the cluster to name its version and its APIs.
const ServedPatience = 5 * time.Second

// servedNote is the key under which the memo keeps the cluster's last answer.
const servedNote = "what the cluster serves"

// Served asks the cluster once for its version and the APIs that it serves.
type Served struct {
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

// Capabilities returns the cluster's version and APIs, for a call at a place. When the cluster does not answer, the last
// known answer stands, so that an outage does not change the declarations of a Tiltfile; without one, the answer is
// empty, and the user is warned.
func (e *Evaluation) Capabilities(at fault.Site) model.Capabilities {
	c := e.Cluster
	if c.asked || c.Ask == nil {
		return c.answer
	}
	c.asked = true
	ctx, cancel := context.WithTimeout(e.Context, ServedPatience)
	defer cancel()
	over := e.Awaiting("the cluster to say what it serves")
	answer, err := c.Ask(ctx)
	over()
	if err == nil {
		c.answer = answer
		e.Memo.SetNote(servedNote, func(any) any { return answer })
		return answer
	}
	last, known := e.Memo.Note(servedNote).(model.Capabilities)
	if !known {
		e.Warn(at, "helm: the cluster does not say what it serves, so .Capabilities has the defaults of helm, and the chart may leave out objects until it does: %v", err)
	}
	c.answer = last
	return last
}
