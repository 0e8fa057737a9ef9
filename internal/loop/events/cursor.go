package events

import (
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Filter chooses events. The zero value chooses all.
type Filter struct {
	// Resources and Types are the wanted ones; nil means all. A type is given by its own name or by the name of its family.
	Resources, Types []string
	// Since leaves out earlier events.
	Since time.Time
}

// takes reports whether an event is wanted.
func (f Filter) takes(e *store.Entry[state.Event]) bool {
	return f.wants(string(e.Value.Resource), string(e.Value.Type), e.Created)
}

// Wants reports whether an event is wanted.
func (f Filter) Wants(e api.Event) bool { return f.wants(e.Resource, e.Type, e.Time) }

func (f Filter) wants(resource, kind string, at time.Time) bool {
	return (f.Resources == nil || slices.Contains(f.Resources, resource)) &&
		(f.Types == nil || slices.ContainsFunc(f.Types, func(t string) bool { return Is(kind, t) })) &&
		!at.Before(f.Since)
}

// Is reports whether an event type equals the wanted one, or belongs to the wanted family: pod-ready is in the family pod.
func Is(kind, want string) bool {
	rest, ok := strings.CutPrefix(kind, want)
	return ok && (rest == "" || rest[0] == '-')
}

// Known reports whether a type or family exists.
func Known(want string) bool {
	return want != "" && slices.ContainsFunc(api.EventTypes, func(t api.EventType) bool { return Is(t.Name, want) })
}

// Cursor is a place in the events of a session. It is for one goroutine.
type Cursor struct {
	// After is the number of the last event that was read; 0 is the place before the first.
	After  uint64
	Filter Filter
}

// Next returns at most max of the next wanted events in v; more reports that there may be further ones. If events that have
// not been read yet are gone, the first event that it returns is a gap, whatever the filter: some of them may have been
// wanted.
func (c *Cursor) Next(v store.View, max int) (out []api.Event, more bool) {
	rows, tiltfile := state.Events.In(v), state.TheSession(v).Tiltfile
	first, _ := rows.Ends()
	if first == nil {
		return nil, false
	}
	if oldest := state.EventSeq(first.ID); oldest > c.After+1 {
		out = append(out, gap(c.After+1, oldest-1, first.Created))
		c.After = oldest - 1
	}
	for e := range rows.After(state.EventID(c.After)) {
		if len(out) >= max {
			return out, true
		}
		c.After = state.EventSeq(e.ID)
		if c.Filter.takes(e) {
			out = append(out, Of(e, tiltfile))
		}
	}
	return out, false
}

func gap(from, to uint64, at time.Time) api.Event {
	return api.Event{V: api.EventVersion, Seq: to, Time: at, Type: "gap", Gap: &api.GapEvent{Missed: to - from + 1, From: from}}
}
