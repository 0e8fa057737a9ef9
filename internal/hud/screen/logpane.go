package screen

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
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

// scroll scrolls by a number of rows; a cursor that gets out of sight moves along. Scrolling up pauses following; reaching the
// end resumes it.
func (p *logPane) scroll(by int) {
	defer p.catch()
	p.read()
	if len(p.rows) == 0 {
		return
	}
	now := p.rows[0].spot()
	switch {
	case by < 0:
		if earlier := p.before(now, -by); len(earlier) > 0 {
			p.pause(earlier[0].spot())
		}
	case !p.follow:
		later, end := p.from(now, p.area.h+by)
		spare := max(0, len(later)-p.area.h)
		p.follow = end && spare <= by && p.cursor == 0
		if spare > 0 {
			p.top = later[min(by, spare)].spot()
		}
	}
	p.read()
}

// catch moves the cursor back into sight.
func (p *logPane) catch() {
	if p.cursor == 0 || len(p.rows) == 0 {
		return
	}
	if first, _ := p.shows(p.cursor); first < 0 {
		p.cursor = max(min(p.cursor, p.rows[len(p.rows)-1].item.First), p.rows[0].item.First)
	}
}

// pause stops following and shows the rows from a spot on.
func (p *logPane) pause(top spot) {
	if p.follow {
		p.paused = p.list.Len()
	}
	p.follow, p.top = false, top
}

// move moves the cursor. Moving it up pauses following; moving it past the end resumes it.
func (p *logPane) move(by int) {
	for ; by < 0; by++ {
		p.up()
	}
	for ; by > 0; by-- {
		p.down()
	}
}

func (p *logPane) up() {
	p.read()
	if len(p.rows) == 0 {
		return
	}
	switch first := p.rows[0]; {
	case p.cursor == 0:
		p.pause(first.spot())
		p.cursor = p.rows[len(p.rows)-1].item.First
	case first.item.First == p.cursor && first.row > 0: // the rest of an item that is taller than the pane
		p.scroll(-1)
	default:
		if earlier := p.list.ItemsBefore(p.cursor, 1, p.fold()); len(earlier) > 0 {
			p.place(earlier[0].First)
		}
	}
}

func (p *logPane) down() {
	p.read()
	if len(p.rows) == 0 {
		return
	}
	switch last := p.rows[len(p.rows)-1]; {
	case p.cursor == 0:
		p.scroll(1)
	case last.item.First == p.cursor && last.row < len(last.item.rows)-1:
		p.scroll(1)
	default:
		later := p.list.ItemsAfter(p.cursor-1, 2, p.fold())
		if len(later) > 1 {
			p.place(later[1].First)
		} else if p.anchor == 0 && p.list.Reaches(p.cursor, math.MaxUint64) {
			p.end()
		}
	}
}

// page scrolls by pages.
func (p *logPane) page(pages int) { p.scroll(pages * max(1, p.area.h-1)) }

// place puts the cursor on an item and scrolls as little as necessary to show it.
func (p *logPane) place(seq uint64) {
	p.cursor = seq
	p.read()
	first, last := p.shows(seq)
	own := p.flatten(p.list.ItemsAfter(seq-1, 1, p.fold()))
	switch {
	case len(own) == 0:
	case last-first+1 == len(own):
		if p.follow {
			p.pause(p.rows[0].spot())
		}
	case len(p.rows) == 0 || seq <= p.rows[0].item.First:
		p.pause(spot{seq, max(0, len(own)-p.area.h)})
		if len(own) > p.area.h {
			p.pause(spot{seq, len(own) - 1})
		}
	default: // below: its last row is the lowest, or its first one if it is taller than the pane
		room := p.area.h - len(own)
		if room < 0 {
			room = p.area.h - 1
		}
		top := spot{seq, 0}
		if above := p.before(top, room); len(above) > 0 {
			top = above[0].spot()
		}
		p.pause(top)
	}
	p.read()
}

// shows returns the first and the last row of an item that are shown; -1 and -2 if none is.
func (p *logPane) shows(seq uint64) (first, last int) {
	first, last = -1, -2
	for i, r := range p.rows {
		if r.item.First == seq {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return first, last
}

// reveal shows a line in the upper part of the pane, and puts the cursor on its item.
func (p *logPane) reveal(seq uint64) {
	it, ok := p.list.ItemOf(seq, p.fold())
	if !ok {
		return
	}
	first := it.First
	top := spot{first, 0}
	if earlier := p.before(top, p.area.h/3); len(earlier) > 0 {
		top = earlier[0].spot()
	}
	if rows, end := p.from(top, p.area.h); end && len(rows) < p.area.h { // near the end, the pane stays full
		if earlier := p.before(top, p.area.h-len(rows)); len(earlier) > 0 {
			top = earlier[0].spot()
		}
	}
	p.pause(top)
	p.cursor = first
	p.read()
}

// edge shows the oldest lines, or follows the newest.
func (p *logPane) edge(last bool) {
	if last {
		p.end()
		return
	}
	if first := p.list.ItemsAfter(0, 1, p.fold()); len(first) > 0 {
		p.pause(spot{first[0].First, 0})
		p.cursor = first[0].First
	}
	p.read()
}

// end follows the newest lines.
func (p *logPane) end() {
	p.follow, p.cursor, p.anchor, p.region = true, 0, 0, nil
	p.read()
}

// sideways moves lines that are cut.
func (p *logPane) sideways(by int) {
	if p.shape.cut {
		p.shape.left = max(0, p.shape.left+by*20)
	}
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

// jumpUpdate shows where the previous or the next update begins, and reports whether there is one.
func (p *logPane) jumpUpdate(back bool) bool { return p.jump(p.updates(), back) }

// jump shows the nearest beginning of one of the spans.
func (p *logPane) jump(spans []logstore.SpanInfo, back bool) bool {
	p.read()
	at := uint64(math.MaxUint64)
	if p.cursor != 0 {
		at = p.cursor
	} else if !p.follow && len(p.rows) > 0 {
		at = p.rows[0].item.First
	}
	begins := make([]uint64, len(spans))
	for i, span := range spans {
		begins[i] = span.First
	}
	slices.Sort(begins)
	begins = slices.Compact(begins)
	i, here := slices.BinarySearch(begins, at)
	switch {
	case back:
		i--
	case here:
		i++
	}
	if !between(i, 0, len(begins)) {
		return false
	}
	p.reveal(begins[i])
	return true
}

// at returns the number of the item at a place of the terminal; zero if there is none.
func (p *logPane) at(x, y int) uint64 {
	i := p.area.rowAt(x, y, 0, len(p.rows))
	if i < 0 {
		return 0
	}
	return p.rows[i].item.First
}

// draw draws the pane.
func (p *logPane) draw(c canvas, area rect) {
	p.area = rect{}
	if area.empty() {
		return
	}
	title := rect{}
	if !p.bare {
		title, area = area.top(1)
	}
	p.area, p.drawn = area, true
	p.read()
	if !p.bare {
		p.drawTitle(c, title)
	}
	from, to := p.selection()
	for i, r := range p.rows {
		selected := p.focused && from <= r.item.First && r.item.First <= to // none is 0, as without a cursor
		r.item.draw(c, rect{area.x, area.y + i, area.w, 1}, r.row, p.now)
		p.mark(c, rect{area.x, area.y + i, area.w, 1}, r, selected)
		if r.row == 0 {
			p.drawGutter(c, area.x, area.y+i, r.item)
		}
		if selected {
			style := p.theme.selection(view.Accent)
			c.restyle(area.x, area.y+i, r.item.indent, func(tcell.Style) tcell.Style { return style })
		}
		c.linkPlaces(area.x+r.item.indent, area.y+i, area.w-r.item.indent, r.item.Lines[0].Resource, text.Plain(r.item.rows[r.row]))
		p.drawRegion(c, rect{area.x, area.y + i, area.w, 1}, r)
	}
	if len(p.rows) == 0 && area.h > 0 {
		c.text(area.x+1, area.y, area.w-2, p.emptiness(), p.theme.style(view.Dim))
	}
}

// drawGutter shows that an item was marked, or that its message is new since the last update.
func (p *logPane) drawGutter(c canvas, x, y int, it *wrapped) {
	switch {
	case p.marked[it.First]:
		c.text(x, y, 1, "◆", p.theme.style(view.Accent))
	case p.isNew(it.Lines[0], p.now):
		c.text(x, y, 1, "+", p.theme.style(view.Accent).Bold(true))
	}
}

// emptiness says why no line is shown.
func (p *logPane) emptiness() string {
	switch {
	case !p.terms.Empty() && p.list.Looked() < 1:
		return ""
	case !p.terms.Empty():
		return fmt.Sprintf("no line matches %q; Esc shows all", p.terms.Text)
	case p.level > 0:
		return "no " + levelWords[p.level] + "; L shows other levels"
	}
	return ""
}

var levelWords = []string{"all", "warnings", "errors", "with details"}

func (p *logPane) drawTitle(c canvas, area rect) {
	dim := c.theme.style(view.Dim)
	c.rule(area.x, area.y, area.w, dim)
	name := cmp.Or(p.subject.title, "all resources")
	nameStyle := p.theme.style(view.Plain)
	if p.focused {
		nameStyle = p.theme.selection(view.Accent)
	}
	end := c.text(area.x+1, area.y, area.w-2, " "+text.CutMiddle(name, 24)+" ", nameStyle)
	right := p.standing()
	start := area.x + area.w - right.Width() - 1
	if start > end+8 {
		c.spans(start, area.y, right.Width(), right)
	} else {
		start = area.x + area.w - 1
	}
	parts := p.titleParts()
	for room := start - end - 1; width(parts) > room; { // the least important part gives way
		least := slices.MinFunc(parts, func(a, b titlePart) int { return a.weight - b.weight })
		parts = slices.DeleteFunc(parts, func(t titlePart) bool { return t.weight == least.weight })
	}
	for _, part := range parts {
		end = c.spans(end, area.y, start-end, view.Cell{{Text: "─", Tone: view.Dim}})
		for i, span := range part.cell {
			from := end
			end = c.spans(end, area.y, start-end, part.cell[i:i+1])
			if i < len(part.verbs) && span.Text != "" {
				c.spot(from, area.y, end-from, part.verbs[i])
			}
		}
	}
}

// titlePart is a part of the title; of greater weight if it matters more. A click on its spans acts like the verbs.
type titlePart struct {
	cell   view.Cell
	weight int
	verbs  []string
}

func width(parts []titlePart) int {
	n := 0
	for _, p := range parts {
		n += p.cell.Width() + 1
	}
	return n
}

// titleParts are the parts of the title in their order.
func (p *logPane) titleParts() []titlePart {
	var tabs view.Cell
	for i, s := range []string{"1 all", "2 build", "3 runtime"} {
		if logSource(i) == p.source {
			tabs = append(tabs, view.Span{Text: " [" + s + "]", Tone: view.Accent})
		} else {
			tabs = append(tabs, view.Span{Text: "  " + s, Tone: view.Dim})
		}
	}
	parts := []titlePart{{append(tabs, view.Span{Text: " "}), 0, []string{"log-all", "log-build", "log-runtime"}}}
	add := func(weight int, s string, tone view.Tone, verb string) {
		parts = append(parts, titlePart{view.Cell{{Text: " " + s + " ", Tone: tone}}, weight, []string{verb}})
	}
	if p.level > 0 {
		add(3, "level: "+levelWords[p.level], view.Warn, "level")
	}
	if p.follow {
		add(1, "follow ●", view.Good, "follow")
	} else {
		n := p.unseen()
		add(2, fmt.Sprintf("paused, %s new %s", grouped(n), lines(n)), view.Warn, "follow")
	}
	if !p.terms.Empty() {
		add(5, "filter: "+text.Cut(p.terms.Text, 32), view.Warn, "filter-log")
	}
	if !p.found.Empty() {
		add(6, "find: "+text.Cut(p.found.Text, 24)+" "+p.findState(), view.Accent, "next")
	}
	switch {
	case p.anchor != 0:
		add(4, "selecting, c copies", view.Accent, "copy")
	case p.region != nil && !p.region.empty():
		add(4, "selecting", view.Accent, "")
	}
	return parts
}

// standing is the right end of the title: the number of lines, and the part of the log that was looked at.
func (p *logPane) standing() view.Cell {
	n := p.list.Len()
	cell := view.Cell{{Text: fmt.Sprintf(" %s %s ", grouped(n), lines(n)), Tone: view.Dim}}
	if looked := p.list.Looked(); looked < 1 {
		cell = append(view.Cell{{Text: fmt.Sprintf(" filtering %d %% ", int(looked*100)), Tone: view.Accent}}, cell...)
	}
	return cell
}

func lines(n int) string {
	if n == 1 {
		return "line"
	}
	return "lines"
}

// grouped formats a number with commas between the thousands.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ago formats how long ago a line was written.
func ago(at, now time.Time) string { return view.Age(at, now) }
