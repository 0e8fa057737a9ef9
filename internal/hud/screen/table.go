package screen

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// table is the list of resources.
type table struct {
	theme theme

	all    []view.Row
	rows   []view.Row // that match the query
	lines  []tableLine
	order  view.Order
	folded map[string]bool
	marked map[model.ManifestName]bool
	query  string
	sizes  view.Sizes
	// selected is kept by name, so that it survives every change of order. previous is the index of its line.
	selected tableKey
	previous int
	offset   int // the first line that is drawn
	// covered is the number of rows at its bottom that a card covers: the selected row stays above it.
	covered int
	focused bool
	step    int // of the spinner
	// others are the resources that other screens of the session have selected.
	others []model.ManifestName
	// unseen returns the part of a resource's log that the user has not seen.
	unseen func(model.ManifestName) view.Unseen

	area  rect // of the lines, when they were drawn last
	ports rect // of the column of ports
	// titles are the titles of the columns, with their places.
	titles []titleAt
}

// titleAt is the place of a column's title.
type titleAt struct {
	rect
	kind view.Kind
}

// tableLine is a row, or the heading of a group.
type tableLine struct {
	row    *view.Row
	group  string
	counts view.Group // of a heading
}

// tableKey identifies a line: a resource, or the heading of a group.
type tableKey struct {
	name    model.ManifestName
	heading bool
	group   string
}

func (l tableLine) key() tableKey {
	if l.row == nil {
		return tableKey{heading: true, group: l.group}
	}
	return tableKey{name: l.row.Name}
}

// in reports whether a line belongs to a group; nil belongs to none.
func (l *tableLine) in(group string) bool { return l != nil && l.group == group }

func newTable(t theme) *table {
	return &table{theme: t, folded: map[string]bool{}, marked: map[model.ManifestName]bool{}, focused: true,
		unseen: func(model.ManifestName) view.Unseen { return view.UnseenNone }}
}

var _ mover = (*table)(nil)

// setRows replaces the rows.
func (t *table) setRows(rows []view.Row, now time.Time) {
	t.all = rows
	t.sizes.Take(rows, now)
	for name := range t.marked { // a resource that is gone is not marked
		if !slices.ContainsFunc(rows, func(r view.Row) bool { return r.Name == name }) {
			delete(t.marked, name)
		}
	}
	t.arrange()
}

// setQuery limits the table to the rows that match a query.
func (t *table) setQuery(q string) {
	t.query = q
	t.arrange()
}

func (t *table) nextOrder() {
	t.order = t.order.Next()
	t.arrange()
}

// arrange computes the lines and keeps one of them selected.
func (t *table) arrange() {
	t.rows = view.Arrange(t.all, t.order)
	if t.query != "" {
		t.rows = slices.DeleteFunc(slices.Clone(t.rows), func(r view.Row) bool { return !r.Matches(t.query) })
	}
	ranked := view.Rank(t.rows, t.query)
	t.lines = t.lines[:0]
	labelled := slices.ContainsFunc(t.rows, func(r view.Row) bool { return r.Heading() != "" })
	grouped := labelled && t.order == view.ByGroup && !ranked
	groups := map[string]view.Group{}
	for _, g := range view.Groups(t.rows) {
		groups[g.Name] = g
	}
	for i := range t.rows {
		r := &t.rows[i]
		line := tableLine{row: r, group: r.Heading()}
		if grouped && !line.single() {
			if above := t.last(); above.single() || !above.in(r.Heading()) {
				t.lines = append(t.lines, tableLine{group: r.Heading(), counts: groups[r.Heading()]})
			}
			if t.hides(r.Heading()) {
				continue
			}
		}
		t.lines = append(t.lines, line)
	}
	t.reselect()
}

// name returns the resource of a line; empty for a heading, and for nil.
func (l *tableLine) name() model.ManifestName {
	if l == nil || l.row == nil {
		return ""
	}
	return l.row.Name
}

// single reports whether a line belongs to no group: the line of (Tiltfile).
func (l *tableLine) single() bool { return l.name() == model.TiltfileName }

// heading reports whether a line is the heading of a group.
func (l *tableLine) heading() bool { return l != nil && l.row == nil }

// groups reports whether the table is divided into groups.
func (t *table) groups() bool {
	return slices.ContainsFunc(t.lines, func(l tableLine) bool { return l.heading() })
}

// hides reports whether the members of a group are not shown.
func (t *table) hides(group string) bool { return t.folded[group] && t.query == "" }

// last returns the last line; nil if there is none.
func (t *table) last() *tableLine {
	if len(t.lines) == 0 {
		return nil
	}
	return &t.lines[len(t.lines)-1]
}

// reselect keeps the selection on the same line, or at the same place if that line is gone.
func (t *table) reselect() {
	if i := t.index(); i >= 0 {
		t.previous = i
		return
	}
	if t.query != "" || t.selected == (tableKey{}) { // a row rather than a heading above it
		if i := slices.IndexFunc(t.lines, func(l tableLine) bool { return !l.heading() }); i >= 0 {
			t.choose(max(i, min(t.previous, len(t.lines)-1)))
			return
		}
	}
	if len(t.lines) > 0 {
		t.choose(min(t.previous, len(t.lines)-1))
	}
}

// index returns the selected line; -1 if there is none.
func (t *table) index() int {
	return slices.IndexFunc(t.lines, func(l tableLine) bool { return l.key() == t.selected })
}

func (t *table) choose(i int) { t.selected, t.previous = t.lines[i].key(), i }

// current returns the selected line; nil if there is none.
func (t *table) current() *tableLine {
	if i := t.index(); i >= 0 {
		return &t.lines[i]
	}
	return nil
}

// members returns the resources of a group.
func (t *table) members(group string) []model.ManifestName {
	names := []model.ManifestName{}
	for _, r := range t.all {
		if r.Heading() == group && r.Name != model.TiltfileName {
			names = append(names, r.Name)
		}
	}
	return names
}

// markedRows returns the marked resources, in the order of the screen.
func (t *table) markedRows() []model.ManifestName {
	var names []model.ManifestName
	for _, r := range view.Arrange(t.all, t.order) {
		if t.marked[r.Name] {
			names = append(names, r.Name)
		}
	}
	return names
}

// toggleMarks marks resources, or unmarks them if all of them are marked.
func (t *table) toggleMarks(names []model.ManifestName) {
	all := !slices.ContainsFunc(names, func(n model.ManifestName) bool { return !t.marked[n] })
	for _, n := range names {
		if all {
			delete(t.marked, n)
		} else {
			t.marked[n] = true
		}
	}
}

// markCurrent marks the selected resource, or the members of the selected group, and moves to the next line.
func (t *table) markCurrent() {
	switch l := t.current(); {
	case l == nil:
		return
	case l.heading():
		t.toggleMarks(t.members(l.group))
	case !l.single():
		t.toggleMarks([]model.ManifestName{l.name()})
	}
	t.move(1)
}

// markShown marks all resources that match the query, or unmarks them.
func (t *table) markShown() {
	var names []model.ManifestName
	for _, r := range t.rows {
		if r.Name != model.TiltfileName {
			names = append(names, r.Name)
		}
	}
	t.toggleMarks(names)
}

func (t *table) move(by int) {
	if len(t.lines) > 0 {
		t.choose(min(max(t.index()+by, 0), len(t.lines)-1))
	}
}

func (t *table) edge(last bool) {
	switch {
	case len(t.lines) == 0:
	case last:
		t.choose(len(t.lines) - 1)
	default:
		t.choose(0)
	}
}

// show selects a resource, also in a folded group or behind a query that hides it.
func (t *table) show(name model.ManifestName) {
	for _, r := range t.all {
		if r.Name != name {
			continue
		}
		t.folded[r.Heading()] = false
		if t.query != "" && !r.Matches(t.query) {
			t.query = ""
		}
	}
	t.selected = tableKey{name: name}
	t.arrange()
}

// fold hides or shows the members of the selected group, or of the selected row's group.
func (t *table) fold(hide bool) {
	l := t.current()
	if l == nil {
		return
	}
	group := l.group
	t.folded[group] = hide
	t.selected = tableKey{heading: true, group: group}
	t.arrange()
}

// height returns the number of lines of the whole table, including the message of an empty one.
func (t *table) height() int {
	if t.emptiness() != "" {
		return 2 + len(t.lines)
	}
	return 1 + max(1, len(t.lines))
}

func (t *table) page(pages int) { t.move(pages * max(1, t.area.h-1)) }

// at returns the line at a place of the terminal; -1 if there is none.
func (t *table) at(x, y int) int {
	return t.area.rowAt(x, y, t.offset, len(t.lines))
}

// endpoint returns the address of the port that a line shows at a column of the terminal; empty if there is none.
func (t *table) endpoint(line, x int) string {
	r := t.lines[line].row
	if r == nil || !t.ports.has(x, t.ports.y) {
		return ""
	}
	for _, p := range addresses(*r, r.Text(view.Column{Kind: view.ColumnPorts, Width: t.ports.w}, true)) {
		if between(x-t.ports.x, p.from, p.to) {
			return p.url
		}
	}
	return ""
}

// addressed is a range of columns that shows an address.
type addressed struct {
	from, to int
	url      string
}

// addresses returns the parts of a cell that show addresses of a row: the numbers of ports, and whole addresses.
func addresses(r view.Row, cell view.Cell) (out []addressed) {
	at := 0
	for i, s := range cell {
		end := at + text.Width(s.Text)
		shown := strings.TrimSpace(s.Text)
		for _, e := range r.Endpoints {
			if shows(shown, e.URL) || i == 0 && strings.Contains(shown, "…") {
				out = append(out, addressed{at, at + text.Width(strings.TrimRight(s.Text, " ")), e.URL})
				break
			}
		}
		at = end
	}
	return out
}

// shows reports whether a text is an address, or its port.
func shows(text, address string) bool {
	u, err := url.Parse(address)
	if err != nil || text == "" {
		return false
	}
	return slices.Contains([]string{u.Port(), address}, text)
}

// scrollBy scrolls by a number of rows and keeps the selection in sight.
func (t *table) scrollBy(rows int) {
	height := max(t.area.h, 1)
	t.offset = max(0, min(t.offset+rows, len(t.lines)-height))
	if i := t.index(); i >= 0 {
		t.choose(max(t.offset, min(i, t.offset+height-1)))
	}
}

// draw draws the table.
func (t *table) draw(c canvas, area rect) {
	t.area, t.ports = rect{}, rect{}
	if area.empty() {
		return
	}
	head, rest := area.top(1)
	t.area = rest
	columns := t.sizes.Columns(area.w)
	t.scroll(max(rest.h-t.covered, 1))
	t.drawTitles(c, head, columns)
	for i := range min(rest.h, len(t.lines)-t.offset) {
		l := t.lines[t.offset+i]
		if l.heading() {
			t.drawHeading(c, rest.x, rest.y+i, rest.w, l)
		} else {
			t.drawRow(c, rest.x, rest.y+i, rest.w, columns, *l.row)
		}
	}
	c.text(rest.x+view.Margin, rest.y+len(t.lines), rest.w-view.Margin, t.emptiness(), t.theme.style(view.Dim))
}

// emptiness says why no resource is shown; empty if some are.
func (t *table) emptiness() string {
	switch {
	case len(t.lines) == 0 && t.query != "":
		return fmt.Sprintf("no resource matches %q", t.query)
	case len(t.all) == 0:
		return "the session is starting: it has not read the Tiltfile yet"
	case len(t.all) == 1 && t.all[0].Status == view.Well:
		return "the Tiltfile declares no resource"
	}
	return ""
}

// drawTitles draws the titles of the columns, and the sizes of the hidden parts above and below.
func (t *table) drawTitles(c canvas, area rect, columns []view.Column) {
	style := t.theme.style(view.Dim)
	if t.focused {
		style = t.theme.style(view.Strong)
	}
	at := area.x + view.Margin
	t.titles = t.titles[:0]
	for _, col := range columns {
		t.titles = append(t.titles, titleAt{rect{at, area.y, col.Width + view.Gap, 1}, col.Kind})
		c.text(at, area.y, min(col.Width, area.x+area.w-at), col.Title, style)
		if col.Kind == view.ColumnPorts {
			t.ports = rect{at, t.area.y, col.Width, t.area.h}
		}
		if col.Kind == view.ColumnUpdate || col.Kind == view.ColumnImportant { // the widest one
			sign := t.beyond()
			c.spans(at+col.Width-sign.Width(), area.y, sign.Width(), sign)
		}
		at += col.Width + view.Gap
	}
}

// beyond counts the rows that are out of sight, and the failing ones among them: "▲ 3 ▼ 12 ✖ 1".
func (t *table) beyond() view.Cell {
	var cell view.Cell
	for _, part := range []struct {
		mark  string
		lines []tableLine
	}{{"▲", t.lines[:min(t.offset, len(t.lines))]}, {"▼", t.lines[min(t.offset+t.area.h, len(t.lines)):]}} {
		rows, failed := 0, 0
		for _, l := range part.lines {
			switch {
			case l.heading():
				if t.hides(l.group) {
					rows += l.counts.Members
					failed += l.counts.Failing
				}
			default:
				rows++
				if l.row.Err() != "" {
					failed++
				}
			}
		}
		if rows == 0 {
			continue
		}
		cell = append(cell, view.Span{Text: fmt.Sprintf("%s %d ", part.mark, rows), Tone: view.Accent})
		if failed > 0 {
			cell = append(cell, view.Span{Text: fmt.Sprintf("✖ %d ", failed), Tone: view.Bad})
		}
		cell = append(cell, view.Span{Text: " "})
	}
	return cell
}

// scroll moves the offset so that the selected line is visible, and the heading above it where there is room.
func (t *table) scroll(height int) {
	if i := t.index(); i >= 0 {
		first := i
		if i > 0 && t.lines[i-1].heading() {
			first = i - 1
		}
		t.offset = min(t.offset, first)
		t.offset = max(t.offset, i-height+1)
	}
	t.offset = max(0, min(t.offset, len(t.lines)-height))
}

func groupName(group string) string {
	if group == "" {
		return "no label"
	}
	return group
}

func (t *table) drawHeading(c canvas, x, y, width int, l tableLine) {
	mark := "▾"
	if t.hides(l.group) {
		mark = "▸"
	}
	dim := t.theme.style(view.Dim)
	name := t.theme.style(view.Plain)
	tail := view.Cell{{Text: fmt.Sprintf(" %d", l.counts.Members), Tone: view.Dim}}
	if said := l.counts.Verdicts(); said != "" && text.Width(said) < width/3 {
		tail = append(tail, view.Span{Text: " · " + said, Tone: view.Dim})
	}
	for _, part := range []struct {
		n      int
		status view.Status
	}{{l.counts.Updating, view.Updating}, {l.counts.Waiting, view.Waiting}, {l.counts.Unknown, view.Unknown}, {l.counts.Failing, view.Failed}} {
		if part.n > 0 {
			g := glyphs[part.status]
			tail = append(tail, view.Span{Text: " · ", Tone: view.Dim}, view.Span{Text: fmt.Sprintf("%s %d", g.Text, part.n), Tone: g.Tone})
		}
	}
	tail = append(tail, view.Span{Text: " "})
	end := c.text(x+1, y, width-2, mark+" "+text.CutMiddle(groupName(l.group), width/2)+" ", name)
	start := x + width - tail.Width() - 1
	c.rule(end, y, start-end, dim)
	c.spans(start, y, tail.Width(), tail)
	if l.key() == t.selected {
		t.mark(c, x, y, width, view.Accent)
	}
}

// mark shows that a line is selected: in full width if the table has the focus.
func (t *table) mark(c canvas, x, y, width int, tone view.Tone) {
	c.text(x, y, 1, "▌", t.theme.style(tone))
	x, width = x+1, width-1
	if !t.focused {
		c.restyle(x, y, width, func(s tcell.Style) tcell.Style { return s.Bold(true) })
		return
	}
	style := t.theme.selection(tone)
	c.restyle(x, y, width, func(tcell.Style) tcell.Style { return style })
}

// markTone is the tone in which a row is marked.
var markTone = map[view.Status]view.Tone{view.Failed: view.Bad, view.Waiting: view.Warn, view.Warning: view.Warn, view.Well: view.Good}

// linkRow makes links of the ports and of the address of a row that is drawn.
func (t *table) linkRow(c canvas, x, y, width int, columns []view.Column, r view.Row) {
	at := x + view.Margin
	for _, col := range columns {
		if col.Kind == view.ColumnPorts || col.Kind == view.ColumnEndpoint {
			for _, p := range addresses(r, r.Text(col, true)) {
				c.link(at+p.from, y, min(p.to-p.from, x+width-at-p.from), p.url)
			}
		}
		at += col.Width + view.Gap
	}
}

// unseenMarks mark the names of resources.
var unseenMarks = [...]view.Cell{
	view.UnseenNone:   nil,
	view.UnseenLines:  {{Text: "·", Tone: view.Accent}},
	view.UnseenErrors: {{Text: "•", Tone: view.Bad}},
}

func (t *table) drawRow(c canvas, x, y, width int, columns []view.Column, r view.Row) {
	glyph := glyphs[r.Status]
	if r.Status == view.Updating {
		glyph = t.theme.moving(t.step)
	}
	switch {
	case t.marked[r.Name]:
		c.text(x, y, 1, "◆", t.theme.style(view.Accent))
	case slices.Contains(t.others, r.Name):
		c.text(x, y, 1, "›", t.theme.style(view.Accent))
	}
	c.spans(x+3, y, 1, view.Cell{glyph})
	hasChanged := columns[len(columns)-1].Kind == view.ColumnChanged
	at := x + view.Margin
	for _, col := range columns {
		c.spans(at, y, min(col.Width, x+width-at), r.Text(col, hasChanged))
		at += col.Width
		if col.Kind == view.ColumnName { // in the gap, so that nothing moves
			c.spans(at, y, 1, unseenMarks[t.unseen(r.Name)])
		}
		at += view.Gap
	}
	defer t.linkRow(c, x, y, width, columns, r)
	if (tableLine{row: &r}).key() == t.selected {
		tone, ok := markTone[r.Status]
		if !ok {
			tone = view.Accent
		}
		t.mark(c, x+1, y, width-1, tone)
	}
}
