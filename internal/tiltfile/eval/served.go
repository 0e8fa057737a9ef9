package eval

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// servedPatience is how long an evaluation waits for the cluster to say what it serves.
const servedPatience = 5 * time.Second

// servedNote is the key under which the memo keeps the cluster's last answer.
const servedNote = "what the cluster serves"

// Served asks the cluster once what it serves.
type Served struct {
	// Ask asks the cluster; nil if there is none.
	Ask    func(context.Context) (model.Capabilities, error)
	asked  bool
	answer model.Capabilities
}

// Capabilities returns what the cluster serves, for a call at a place. A cluster that does not answer now is as it was
// when it last did, so that an outage does not change what a Tiltfile declares; if it never did, the answer is empty, and
// the user is warned.
func (e *Evaluation) Capabilities(at fault.Site) model.Capabilities {
	c := &e.Cluster
	if c.asked || c.Ask == nil {
		return c.answer
	}
	c.asked = true
	ctx, cancel := context.WithTimeout(e.Context, servedPatience)
	defer cancel()
	answer, err := c.Ask(ctx)
	if err == nil {
		c.answer = answer
		e.Memo.SetNote(servedNote, func(any) any { return answer })
		return answer
	}
	last, known := e.Memo.Note(servedNote).(model.Capabilities)
	if !known {
		e.Warn(at, "helm: the cluster does not say what it serves, so .Capabilities has the defaults of helm, and the chart may leave out objects: %v", err)
	}
	c.answer = last
	return last
}
