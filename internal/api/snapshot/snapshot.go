// Package snapshot writes the state and the logs of a session at one moment as JSON without secrets, and reads them back, so
// that the session can be viewed elsewhere and later.
//
// Everything is written piece by piece from an immutable snapshot of the store and from the log store: nothing waits for the
// store's loop, and no document is ever in memory as a whole.
package snapshot

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/api/tables"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// The limits on the logs of each resource in a snapshot.
const (
	maxLines = 10_000
	maxText  = 2 << 20
)

// chunk is the most lines that are in memory at a time.
const chunk = 512

// Session is a session at one moment.
type Session struct {
	View store.View
	// Shown is the API's form of View.
	Shown api.View
	// Logs may grow while the document is written. The last line written is the line before number Until or, if that is zero, the
	// line that was newest at the beginning.
	Logs  *logstore.Store
	Until uint64
	// Redactor knows the secrets of View.
	Redactor *redact.Redactor
	Version  string
	At       time.Time
	// Events are the events of a past session, whose view has none.
	Events []api.Event
	// StateOnly leaves out the logs and the events.
	StateOnly bool
}

// Line converts a line of a log to its API form.
func Line(l logstore.Line) api.LogLine {
	return api.LogLine{Seq: l.Seq, Time: l.Time, Resource: string(l.Resource), Span: l.Span, Source: string(l.Source), Level: l.Level.String(),
		Continues: l.Continues, Prefix: l.Prefix, Pod: l.Pod, Container: l.Container, Text: l.Text, ProgressID: l.ProgressID, ProgressDone: l.ProgressDone}
}

// Write writes an api.Snapshot. It stops early when ctx is done.
func (s Session) Write(ctx context.Context, w io.Writer) error {
	d := begin(w, s.Redactor)
	d.value("snapshotVersion", api.SnapshotVersion)
	d.value("createdAt", s.At)
	d.value("version", s.Version)
	d.value("view", s.Shown)
	d.value("snapshot", s.View.Seq)
	s.tables(ctx, d)
	if s.StateOnly {
		d.value("logs", []api.LogLine{})
		if err := ctx.Err(); err != nil {
			return err
		}
		return d.end()
	}
	if err := s.newest(ctx, d); err != nil {
		return err
	}
	if err := s.events(ctx, d); err != nil {
		return err
	}
	return d.end()
}

// events writes the events that the session still has.
func (s Session) events(ctx context.Context, d *document) error {
	d.list("events")
	for _, e := range s.Events {
		d.value("", e)
	}
	var cursor events.Cursor
	for more := s.Events == nil; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next []api.Event
		next, more = cursor.Next(s.View, chunk)
		for _, e := range next {
			d.value("", e)
		}
	}
	d.close()
	return d.err
}

// WriteEngine writes an api.EngineDump. n are the store's own statistics. It stops early when ctx is done.
func (s Session) WriteEngine(ctx context.Context, w io.Writer, n tables.Numbers) error {
	d := begin(w, s.Redactor)
	d.value("version", s.Version)
	d.value("createdAt", s.At)
	d.value("snapshot", s.View.Seq)
	for _, k := range tables.Machine(n) {
		if k.Plural == "loop" {
			for it := range k.Items(s.View) {
				d.value("loop", it.Make())
			}
			continue
		}
		d.list(k.Plural)
		for it := range k.Items(s.View) {
			d.value("", it.Make())
		}
		d.close()
	}
	s.tables(ctx, d)
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.end()
}

// WriteLogs writes an api.LogDump. It stops early when ctx is done.
func (s Session) WriteLogs(ctx context.Context, w io.Writer) error {
	d := begin(w, s.Redactor)
	d.value("createdAt", s.At)
	all := part{to: s.Logs.Newest()}
	d.list("resources")
	for _, i := range s.Logs.Inventory() {
		d.value("", inventory(i))
	}
	d.close()
	d.list("lines")
	if err := s.lines(ctx, d, all, nil); err != nil {
		return err
	}
	d.close()
	return d.end()
}

func inventory(i logstore.Inventory) api.LogInventory {
	out := api.LogInventory{Resource: string(i.Resource), Lines: i.Lines, Dropped: i.Dropped, MemoryBytes: i.MemoryBytes, DiskBytes: i.DiskBytes,
		Segments: []api.LogSegment{}, Spans: []api.LogSpan{}}
	for _, s := range i.Segments {
		out.Segments = append(out.Segments, api.LogSegment(s))
	}
	for _, s := range i.Spans {
		out.Spans = append(out.Spans, api.LogSpan{Span: s.Name, First: s.First, Last: s.Last})
	}
	return out
}

// tables writes all tables, in the order of the schema.
func (s Session) tables(ctx context.Context, d *document) {
	d.object("tables")
	for _, t := range state.Schema.Tables() {
		d.list(t.Name)
		for row := range s.View.Rows(t.Name) {
			if ctx.Err() != nil || d.err != nil {
				break
			}
			d.value("", entry(row))
		}
		d.close()
	}
	d.close()
}

func entry(row store.Row) api.TableEntry {
	m := row.Metadata()
	value, err := json.Marshal(tables.Value(row.Any()))
	if err != nil {
		value = []byte("null") // never: Value returns only JSON types
	}
	return api.TableEntry{ID: m.ID, Phase: string(m.Phase), Version: m.Version, Owner: m.Owner, Finalizers: m.Finalizers, Labels: m.Labels,
		Created: m.Created, Updated: m.Updated, Entry: value}
}

// part is a range of log lines: those after from, up to and including to.
type part struct{ from, to uint64 }

// newest writes the newest lines of each resource, as many as the limits allow.
func (s Session) newest(ctx context.Context, d *document) error {
	parts, leftOut := map[model.ManifestName]part{}, map[string]uint64{}
	all := part{from: math.MaxUint64}
	for _, i := range s.Logs.Inventory() {
		if len(i.Segments) == 0 {
			continue
		}
		p := part{to: min(i.Segments[len(i.Segments)-1].Last, s.Until-1)}
		var taken uint64
		var err error
		if p.from, taken, err = s.start(ctx, i.Resource, p.to); err != nil {
			return err
		}
		parts[i.Resource] = p
		all = part{min(all.from, p.from), max(all.to, p.to)}
		if n := i.Lines + i.Dropped; n > taken {
			leftOut[string(i.Resource)] = n - taken
		}
	}
	d.value("logsLeftOut", leftOut)
	d.list("logs")
	defer d.close()
	return s.lines(ctx, d, all, func(l logstore.Line) bool {
		p := parts[l.Resource]
		return l.Seq > p.from && l.Seq <= p.to
	})
}

// start returns the number of the line before the newest lines of a resource that the limits allow, and how many these are.
func (s Session) start(ctx context.Context, name model.ManifestName, end uint64) (start, taken uint64, err error) {
	f := logstore.Filter{Resources: []model.ManifestName{name}}
	text, before := 0, end+1
	for start = end; taken < maxLines; {
		lines, err := s.Logs.Search(ctx, f, before, int(min(chunk, maxLines-taken)), true)
		if err != nil {
			return 0, 0, err
		}
		if len(lines) == 0 {
			return start, taken, nil
		}
		for i := len(lines) - 1; i >= 0; i-- {
			if text += len(lines[i].Text); text > maxText && taken > 0 {
				return start, taken, nil
			}
			start, taken = lines[i].Seq-1, taken+1
		}
		before = lines[0].Seq
	}
	return start, taken, nil
}

// lines writes the lines in a part of the log that wanted accepts; a nil wanted accepts all.
func (s Session) lines(ctx context.Context, d *document, of part, wanted func(logstore.Line) bool) error {
	cursor := s.Logs.CursorAt(logstore.Filter{}, of.from)
	for d.err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		lines := cursor.Next(chunk)
		for _, l := range lines {
			if l.Seq > of.to {
				return d.err
			}
			if wanted == nil || wanted(l) {
				d.value("", Line(l))
			}
		}
		if len(lines) == 0 {
			break
		}
	}
	return d.err
}
