// Package waterfall shows where the time of the start of a session went: the spans of each resource, its waits, and the path
// of spans that decided when the last one was over.
package waterfall

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// Kinds of spans, beside the kinds of the steps of updates.
const (
	Evaluate = "evaluate"
	Wait     = "wait"
	Update   = "update" // the part of an update that belongs to no step
	Pull     = "pull"   // the part of the time until a resource is ready in which a node pulled an image
	Ready    = "ready"
	Layers   = "layers" // layers that go to the cluster beside the build of an image
	Other    = "other"  // on the critical path only: nothing that is known happened
)

// Span is a part of the time of a resource.
type Span struct {
	Kind string
	// Text is the reason of a wait in words, or the image of a step.
	Text string
	// On are the resources that a wait waits for.
	On         []string
	Start, End time.Time
	// Failed is set for the last span of an update that failed.
	Failed bool
}

// Row holds the spans of a resource, in their order.
type Row struct {
	Resource string
	Spans    []Span
	// Layers are the transfers of layers beside the builds of its images. The resource does not wait for them.
	Layers []Span
}

// Piece is a piece of the critical path.
type Piece struct {
	Resource string
	Span
}

// Waterfall is the start of a session.
type Waterfall struct {
	Start, End time.Time
	Rows       []Row
	// Critical are the pieces that decided the end, in their order. Each begins where the one before ends, the first at Start, and the last
	// one ends at End.
	Critical []Piece
	// Missed is the number of events that are missing.
	Missed uint64
}

// chosen are the reasons of waits that the user has asked for: they are not part of the start.
var chosen = map[string]bool{"manual": true, "paused": true}

// course is the state of a resource while its events are read.
type course struct {
	row *Row
	// open is the span that has begun last; its End is zero.
	open *Span
	// held is the newest wait; nil if the resource waits for nothing.
	held *api.HoldEvent
	// ready is set once the resource was ready.
	ready bool
	// pulls are the pulls of images: Kubernetes may report them late.
	pulls []Span
}

// Of returns the waterfall of the given events, which are all of a session up to end. Only the part until each resource was ready first
// counts.
func Of(events []api.Event, end time.Time) Waterfall {
	var w Waterfall
	all := map[string]*course{}
	var order []*course
	for _, e := range events {
		if w.Start.IsZero() || e.Time.Before(w.Start) {
			w.Start = e.Time
		}
		if e.Gap != nil {
			w.Missed += e.Gap.Missed
		}
		if e.Resource == "" || e.Time.After(end) {
			continue
		}
		c := all[e.Resource]
		if c == nil {
			c = &course{row: &Row{Resource: e.Resource}}
			all[e.Resource] = c
			order = append(order, c)
		}
		c.take(e)
	}
	for _, c := range order {
		c.close(end)
		c.showPulls()
		if len(c.row.Spans) > 0 {
			w.Rows = append(w.Rows, *c.row)
		}
	}
	for _, r := range w.Rows {
		if last := r.Spans[len(r.Spans)-1].End; last.After(w.End) {
			w.End = last
		}
	}
	w.Critical = w.path()
	return w
}

// close ends the open span.
func (c *course) close(at time.Time) {
	if c.open != nil {
		c.open.End = at
		c.add(*c.open)
	}
	c.open = nil
}

// add adds a span that took time. It begins after the one before.
func (c *course) add(s Span) {
	if n := len(c.row.Spans); n > 0 && s.Start.Before(c.row.Spans[n-1].End) {
		s.Start = c.row.Spans[n-1].End
	}
	if s.End.After(s.Start) {
		c.row.Spans = append(c.row.Spans, s)
	}
}

// take takes in an event of the resource.
func (c *course) take(e api.Event) {
	if e.Pull != nil {
		c.pulls = append(c.pulls, Span{Kind: Pull, Text: e.Pull.Image, Start: e.Time.Add(-duration(e.Pull.TookMs)), End: e.Time})
	}
	if c.ready {
		return
	}
	switch {
	case e.Hold != nil:
		c.hold(*e.Hold, e.Time)
	case e.Type == "tiltfile-started":
		c.begin(Span{Kind: Evaluate, Start: e.Time})
	case e.Type == "update-started":
		c.begin(Span{Kind: Update, Start: e.Time})
	case e.Type == "update-finished":
		c.updated(*e.Update, e.Time)
	case e.Tiltfile != nil:
		c.close(e.Time)
		c.ready = e.Type == "tiltfile-loaded"
	case e.Ready != nil:
		c.close(e.Time)
		c.ready = true
	}
}

func (c *course) begin(s Span) {
	c.close(s.Start)
	c.open = &s
}

// hold takes in a change of the wait. A wait may begin during an update, and then is a wait for the next one.
func (c *course) hold(h api.HoldEvent, at time.Time) {
	c.held = &h
	if h.Reason == "" || chosen[h.Reason] {
		c.held = nil
	}
	switch waiting := c.open != nil && c.open.Kind == Wait; {
	case c.held != nil && (c.open == nil || waiting):
		c.wait(at)
	case waiting:
		c.close(at)
	}
}

// wait begins the newest wait.
func (c *course) wait(at time.Time) {
	c.begin(Span{Kind: Wait, Text: c.held.Text, On: c.held.On, Start: at})
}

// updated divides the update that has ended into its steps. Then the resource gets ready or, if the update has only built images, goes on
// waiting.
func (c *course) updated(u api.UpdateEvent, at time.Time) {
	start := at
	if c.open != nil && c.open.Kind == Update {
		start = c.open.Start
	}
	c.open = nil
	for _, l := range u.LayersAhead {
		from := start.Add(duration(l.FromMs))
		c.row.Layers = append(c.row.Layers, Span{Kind: Layers, Text: l.Image, Start: from, End: earlier(from.Add(duration(l.TookMs)), at)})
	}
	for _, step := range u.Steps {
		end := start.Add(duration(step.TookMs))
		if end.After(at) {
			end = at
		}
		c.add(Span{Kind: step.Kind, Text: step.Image, Start: start, End: end})
		start = end
	}
	c.add(Span{Kind: Update, Start: start, End: at})
	if n := len(c.row.Spans); u.Error != "" && n > 0 {
		c.row.Spans[n-1].Failed = true
	}
	switch {
	case c.held != nil && u.BuildOnly:
		c.wait(at)
	case !u.BuildOnly && !u.Cancelled && u.Error == "":
		c.open = &Span{Kind: Ready, Start: at}
	}
}

func duration(ms api.Milliseconds) time.Duration {
	return time.Duration(float64(ms) * float64(time.Millisecond))
}

// showPulls divides the times until the resource was ready into the pulls of images and the rest. Of pulls at the same time, the one counts that
// began first.
func (c *course) showPulls() {
	slices.SortStableFunc(c.pulls, func(a, b Span) int { return a.Start.Compare(b.Start) })
	spans := c.row.Spans
	c.row.Spans = nil
	for _, s := range spans {
		for _, p := range c.pulls {
			if s.Kind == Ready && p.Start.Before(s.End) && p.End.After(s.Start) {
				p.Start, p.End = later(p.Start, s.Start), earlier(p.End, s.End)
				c.add(Span{Kind: Ready, Start: s.Start, End: p.Start})
				c.add(p)
				s.Start = p.End
			}
		}
		c.add(s)
	}
}

// path walks back from the end: from a span to the one before, and from a wait to the resource that it waited for.
func (w Waterfall) path() []Piece {
	var path []Piece
	row := w.lastBefore(w.End, nil)
	asked := map[string]bool{} // at this moment
	for at := w.End; at.After(w.Start); {
		if row == nil {
			path = append(path, Piece{Span: Span{Kind: Other, Start: w.Start, End: at}})
			break
		}
		s, ok := row.before(at)
		asked[row.Resource] = true
		if ok && s.Kind == Wait && !s.End.Before(at) {
			if next := w.lastBefore(at, func(name string) bool { return slices.Contains(s.On, name) && !asked[name] }); next != nil {
				last, _ := next.before(at)
				if !last.End.Before(at) {
					row = next
					continue
				}
				s.Start = later(s.Start, last.End) // since then, it has waited for something else
			}
		}
		p := Piece{Resource: row.Resource, Span: s}
		switch {
		case !ok: // its first span: something else has led to it
			row = w.lastBefore(at, func(name string) bool { return !asked[name] })
			continue
		case s.End.Before(at):
			p.Span = Span{Kind: Other, Start: s.End}
		}
		p.End = at
		path = append(path, p)
		at = p.Start
		clear(asked)
	}
	slices.Reverse(path)
	return path
}

// before returns the last span that began before a time.
func (r *Row) before(at time.Time) (Span, bool) {
	for _, s := range slices.Backward(r.Spans) {
		if s.Start.Before(at) {
			return s, true
		}
	}
	return Span{}, false
}

// lastBefore returns the row, among those that fit, with the span that reaches furthest up to a time; nil if none does.
func (w Waterfall) lastBefore(at time.Time, fits func(string) bool) *Row {
	var found *Row
	var until time.Time
	for i := range w.Rows {
		r := &w.Rows[i]
		s, ok := r.before(at)
		if !ok || fits != nil && !fits(r.Resource) {
			continue
		}
		if end := earlier(s.End, at); found == nil || end.After(until) {
			found, until = r, end
		}
	}
	return found
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
