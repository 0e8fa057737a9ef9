package screen

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/pkg/model"
)

// logPane shows the newest lines of a log, or older ones. It reads no more lines than it shows.
type logPane struct {
	theme theme
	logs  Logs
	lists *loglist.Lister
	wrapper

	subject subject
	source  logSource
	level   int // in levels
	terms   logquery.Query
	shape   shape
	list    *loglist.List
	next    *loglist.List // replaces list as soon as it has begun; nil if there is none

	finder
	rules  []logquery.Query // that the user wants to stand out
	follow bool
	top    spot    // the first row that is shown, unless following
	cursor uint64  // the selected item, by its first line; zero for none
	anchor uint64  // the other end of the selection; zero for none
	region *region // of text, by the mouse; nil for none
	opened map[uint64]bool
	marked map[uint64]bool // items that the user has marked
	newMessages
	paused int     // the number of lines when following was paused
	rows   []rowOf // the shown rows
	// bare leaves out the title, for tiny terminals.
	bare    bool
	focused bool
	message string

	// quiet is set while a search is typed: a missing match is no news then.
	quiet bool

	area rect // of the rows
	// drawn is set while the pane is a part of the frame that is drawn, and hidden while the last frame was without it: a hidden
	// pane follows nothing and is no reason to draw.
	drawn  bool
	hidden atomic.Bool
	// shown and version are the list that was drawn last and its version; the pump compares them.
	shown   atomic.Pointer[loglist.List]
	version atomic.Uint64
	// readVersion is the version of the list when it was read last.
	readVersion uint64
}

var _ mover = (*logPane)(nil)

// subject names the resources whose log is shown: all of them if names is nil.
type subject struct {
	title string
	names []model.ManifestName
}

// spot is a row of an item, by the number of the item's first line.
type spot struct {
	seq uint64
	row int
}

type rowOf struct {
	item *wrapped
	row  int
}

func (r rowOf) spot() spot { return spot{r.item.First, r.row} }

// logSource is the part of the log that is shown.
type logSource int

const (
	allSources logSource = iota
	buildLog
	runtimeLog
)

// shape is the form in which lines are shown.
type shape struct {
	cut     bool // long lines are cut instead of wrapped
	left    int  // columns that are out of sight on the left of cut lines
	time    timeMode
	repeats bool // each repeat is shown
	fields  fieldMode
}

// timeMode selects the form of a line's time.
type timeMode int

const (
	timeClock timeMode = iota
	timeAgo
	timeNone
	timeModes
)

func newLogPane(t theme, logs Logs, lists *loglist.Lister) *logPane {
	return &logPane{theme: t, wrapper: wrapper{theme: t}, logs: logs, lists: lists, follow: true, opened: map[uint64]bool{}, marked: map[uint64]bool{},
		newMessages: newMessages{logs: logs, lists: lists, known: map[model.ManifestName]*known{}}}
}

// query returns the query that the pane lists.
func (p *logPane) query() loglist.Query {
	q := loglist.Query{Resources: p.subject.names, MinLevel: levels[p.level], Typed: p.terms}
	switch p.source {
	case buildLog:
		q.Sources = []logstore.Source{logstore.SourceBuild}
	case runtimeLog:
		q.Sources = []logstore.Source{logstore.SourceRuntime}
	case allSources:
	}
	return q
}

// show chooses the resources whose log is shown, from its end.
func (p *logPane) show(s subject) {
	if reflect.DeepEqual(s, p.subject) {
		return
	}
	p.subject, p.follow, p.cursor, p.anchor, p.region = s, true, 0, 0, nil
	p.width = 0 // the origins of another subject may be shorter
}

// settle opens the list of the query if it has changed. The lines of the previous list are shown until the new one has begun.
func (p *logPane) settle() {
	q := p.query()
	if newest := cmp.Or(p.next, p.list); newest == nil || !newest.Query().Equal(q) {
		from := uint64(math.MaxUint64)
		if !p.follow {
			from = p.top.seq
		}
		if p.next != nil {
			p.next.Close()
		}
		p.next = p.lists.Open(q, from)
		p.refind(q)
	}
	if p.next != nil && (p.next.Begun() || p.list == nil) {
		if p.list != nil {
			p.list.Close()
		}
		p.list, p.next = p.next, nil
		p.shown.Store(p.list)
	}
	p.finder.settle(p)
}

// rest makes the lists rest while the pane is hidden.
func (p *logPane) rest() {
	for _, l := range []*loglist.List{p.list, p.next, p.matches} {
		if l != nil {
			l.Rest(p.hidden.Load())
		}
	}
}

// takeMessage returns the message of the pane for the user.
func (p *logPane) takeMessage() string {
	said := p.message
	p.message = ""
	return said
}

// drew remembers the version of the drawn lines: the one from before they were read, since lines arrive all the time.
func (p *logPane) drew() {
	p.hidden.Store(!p.drawn)
	p.rest()
	p.drawn = false
	p.shown.Store(p.list)
	p.version.Store(p.readVersion)
}

// stale reports whether the pane would show something else than was drawn. It may be called from any goroutine.
func (p *logPane) stale() bool {
	if p.hidden.Load() {
		return false
	}
	list := p.shown.Load()
	return list == nil || list.Version() != p.version.Load()
}

func (p *logPane) fold() loglist.Fold { return loglist.Fold{Repeats: !p.shape.repeats} }

// rowReader reads the rows of a list as they are shown.
type rowReader struct {
	*wrapper
	list   *loglist.List
	fold   loglist.Fold
	opened map[uint64]bool
}

// reading returns the reader of the shown lines. It belongs to the drawing goroutine, as the pane does.
func (p *logPane) reading() rowReader { return rowReader{&p.wrapper, p.list, p.fold(), p.opened} }

// apart returns a reader for another goroutine.
func (p *logPane) apart() rowReader {
	return rowReader{p.wrapper.apart(), p.list, p.fold(), maps.Clone(p.opened)}
}

// flatten wraps items and returns all their rows.
func (r rowReader) flatten(items []loglist.Item) []rowOf {
	var rows []rowOf
	for _, it := range items {
		w := r.wrap(it, r.opened[it.First])
		for i := range w.rows {
			rows = append(rows, rowOf{w, i})
		}
	}
	return rows
}

func (p *logPane) flatten(items []loglist.Item) []rowOf { return p.reading().flatten(items) }

// read updates the shown rows.
func (p *logPane) read() {
	if p.area.empty() {
		p.rows = nil
		return
	}
	p.readVersion = p.list.Version()
	p.configure(p.area.w, p.subject.names == nil || len(p.subject.names) > 1, p.shape)
	p.moved = false
	p.readRows()
	if p.moved || p.narrow() {
		p.readRows()
	}
}

// narrow takes back room that the columns of fields no longer need, and reports whether rows have to be laid out again.
func (p *logPane) narrow() bool {
	if p.shape.fields != fieldsColumns || !p.follow {
		return false
	}
	needed := map[string]int{}
	for _, r := range p.rows {
		for _, needs := range r.item.needs {
			for key, width := range needs {
				needed[key] = max(needed[key], width)
			}
		}
	}
	if !p.columns.shrink(needed, p.now) {
		return false
	}
	p.kept, p.cells = map[wrapKey]*wrapped{}, 0
	return true
}

func (p *logPane) readRows() {
	if !p.follow {
		var end bool
		p.rows, end = p.from(p.top, p.area.h)
		ends := end && len(p.rows) < p.area.h // there is room below the newest line
		p.follow = ends && p.cursor == 0 && p.list.Reaches(p.top.seq, math.MaxUint64)
	}
	if p.follow {
		rows := p.flatten(p.list.ItemsBefore(math.MaxUint64, p.area.h, p.fold()))
		p.rows = rows[max(0, len(rows)-p.area.h):]
	}
}

// from returns up to n rows from a spot on, and whether the log ends with the last of them.
func (r rowReader) from(at spot, n int) (rows []rowOf, end bool) {
	items := r.list.ItemsAfter(at.seq-1, n+1, r.fold)
	rows = r.flatten(items)
	for len(rows) > 0 && rows[0].spot().compare(at) < 0 {
		rows = rows[1:]
	}
	if len(rows) > n {
		return rows[:n], false
	}
	return rows, len(items) <= n
}

func (p *logPane) from(at spot, n int) (rows []rowOf, end bool) { return p.reading().from(at, n) }

// before returns up to n rows directly before a spot.
func (p *logPane) before(at spot, n int) []rowOf {
	rows := p.flatten(p.list.ItemsBefore(at.seq, n, p.fold()))
	if at.row > 0 {
		own := p.flatten(p.list.ItemsAfter(at.seq-1, 1, p.fold()))
		rows = append(rows, own[:min(at.row, len(own))]...)
	}
	return rows[max(0, len(rows)-n):]
}

// close ends a selection, a find, a filter, or a pause; it reports whether there was one.
func (p *logPane) close() bool {
	switch {
	case p.anchor != 0:
		p.anchor = 0
	case p.region != nil:
		p.region = nil
	case !p.found.Empty():
		p.find(logquery.Query{})
	case !p.terms.Empty():
		p.terms = logquery.Query{}
	case !p.follow:
		p.end()
	default:
		return false
	}
	return true
}

// unseen returns the number of lines that have arrived since following was paused.
func (p *logPane) unseen() int { return max(0, p.list.Len()-p.paused) }

// item returns the item with the cursor, or the newest one that is shown; nil if nothing is shown.
func (p *logPane) item() *loglist.Item {
	for i := len(p.rows) - 1; i >= 0; i-- {
		if p.cursor == 0 || p.rows[i].item.First == p.cursor {
			return &p.rows[i].item.Item
		}
	}
	return nil
}

// toggle opens or closes the item with the cursor.
func (p *logPane) toggle() {
	if it := p.item(); it != nil {
		p.opened[it.First] = !p.opened[it.First]
		p.forget(it.First)
	}
}

// selection returns the numbers of the first and the last selected item, by their first lines.
func (p *logPane) selection() (from, to uint64) {
	if p.anchor == 0 {
		return p.cursor, p.cursor
	}
	return min(p.anchor, p.cursor), max(p.anchor, p.cursor)
}

// at returns the number of the item at a place of the terminal; zero if there is none.
func (p *logPane) at(x, y int) uint64 {
	i := p.area.rowAt(x, y, 0, len(p.rows))
	if i < 0 {
		return 0
	}
	return p.rows[i].item.First
}
