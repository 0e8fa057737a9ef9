package cireport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// batch is the largest number of events that are read at a time.
const batch = 256

// Reporter is the subscriber that records the events of a session.
type Reporter struct {
	// lines receives the events as JSON; nil for none.
	lines io.Writer

	mu     sync.Mutex // guards the fields below
	cursor events.Cursor
	tally  Tally
	// redactor belongs to the given version of the table that it is made from.
	redactor *redact.Redactor
	version  uint64
	// course holds the events up to now, unless it is nil.
	course []api.Event
	// pending is output that could not be written yet.
	pending bytes.Buffer
}

// New returns a reporter that begins with the first event. It writes each event to lines as a line of JSON, if lines is not nil.
func New(lines io.Writer) *Reporter { return &Reporter{lines: lines} }

// KeepCourse makes the reporter keep all events, for Course. It is called before Run.
func (r *Reporter) KeepCourse() { r.course = []api.Event{} }

// Course returns the events that were kept, which may contain secrets.
func (r *Reporter) Course() []api.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.course)
}

var _ store.Subscriber = (*Reporter)(nil)

// Contract implements store.Subscriber.
func (r *Reporter) Contract() store.Contract {
	c := store.Contract{
		Name:   "Reporter",
		Doc:    "Records what happens, for the report at the end, and prints it for programs.",
		Inputs: store.Reads(state.Sessions, state.Tiltfiles, state.Resources, state.Events),
		Stage:  store.StageView,
	}
	if r.lines != nil {
		c.Externals = []string{"terminal"}
	}
	return c
}

// Run implements store.Subscriber. It returns an error if the output fails; after a restart it continues at the same event.
func (r *Reporter) Run(ctx context.Context, rt *store.Runtime) error {
	for {
		if err := r.Drain(rt.View()); err != nil {
			return err
		}
		rt.Succeeded()
		select {
		case <-rt.Wake():
		case <-ctx.Done():
			return r.Drain(rt.View())
		}
	}
}

// Drain records all events that have not been recorded yet. It is for events that arrived after Run has returned; it is
// safe to call at any time.
func (r *Reporter) Drain(v store.View) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for more := true; more; {
		if err := r.write(); err != nil {
			return err
		}
		var next []api.Event
		next, more = r.cursor.Next(v, batch)
		for _, e := range next {
			r.tally.Take(e)
			if r.course != nil {
				r.course = append(r.course, e)
			}
			r.print(e, r.redactorOf(v))
		}
	}
	return r.write()
}

// Summarize records the remaining events, and returns the summary of the session. end is its state before anything was
// stopped, now its current state. The summary is also printed, after the events.
func (r *Reporter) Summarize(end, now store.View, o Outcome) (api.Summary, error) {
	err := r.Drain(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Summarize(end, &r.tally, o)
	if err != nil {
		return s, err
	}
	r.print(api.Event{V: api.EventVersion, Seq: r.cursor.After + 1, Time: o.At, Type: "summary", Summary: &s}, nil)
	return s, r.write()
}

// redactorOf returns the redactor for v.
func (r *Reporter) redactorOf(v store.View) *redact.Redactor {
	now := v.Version(state.Tiltfiles.Name())
	if r.redactor == nil || now != r.version {
		r.redactor, r.version = redact.Of(v), now
	}
	return r.redactor
}

// print adds an event to the pending output.
func (r *Reporter) print(e api.Event, redactor *redact.Redactor) {
	if r.lines == nil {
		return
	}
	line, err := json.Marshal(e)
	if err != nil {
		return // no type of the schema can fail
	}
	r.pending.Write(redactor.JSON(line))
	r.pending.WriteByte('\n')
}

// write writes the pending output, and keeps the part that was not written.
func (r *Reporter) write() error {
	if r.pending.Len() == 0 {
		return nil
	}
	n, err := r.lines.Write(r.pending.Bytes())
	r.pending.Next(max(0, min(n, r.pending.Len())))
	if err != nil {
		return fmt.Errorf("print events: %w", err)
	}
	return nil
}
