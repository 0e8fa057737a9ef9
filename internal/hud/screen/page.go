package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// page is a layer with text that can be searched and copied.
type page interface {
	layer
	// search returns the search in the text.
	search() *textFinder
	// window returns the first row that is shown, which a search moves, and the number of shown rows.
	window() (first *int, height int)
	// whole returns all lines.
	whole() []view.Cell
}

var (
	_ page = (*reader)(nil)
	_ page = (*cardView)(nil)
	_ page = (*detailsView)(nil)
	_ page = (*whyView)(nil)
	_ page = (*pendingView)(nil)
	_ page = (*revisionsView)(nil)
)

// textFinder finds text in a page as finder does in the log: without hiding other lines, from the user's position.
type textFinder struct {
	found logquery.Query
	// rows are the rows with a match, and at is the index of the user's present one; -1 for none.
	rows []int
	at   int
	// fresh is set until the first match from the user's position was shown, and deep until folded text was searched.
	fresh, deep bool
}

// look finds the rows that match.
func (f *textFinder) look(rows []view.Cell) {
	f.rows = f.rows[:0]
	if f.found.Empty() {
		return
	}
	for i, row := range rows {
		if f.matches(row) {
			f.rows = append(f.rows, i)
		}
	}
	f.at = min(f.at, len(f.rows)-1)
}

func (f *textFinder) matches(row view.Cell) bool { return len(f.found.Marks(row.String())) > 0 }

// state shows the search and the user's position among the matches.
func (f *textFinder) state() string {
	switch {
	case f.found.Empty():
		return ""
	case len(f.rows) == 0:
		return fmt.Sprintf(" find: %s, not here ", text.Cut(f.found.Text, 24))
	}
	return fmt.Sprintf(" find: %s %d of %d ", text.Cut(f.found.Text, 24), f.at+1, len(f.rows))
}

// mark highlights the matches of a row.
func (f *textFinder) mark(c canvas, x, y, width int, row string) {
	for _, part := range f.found.Marks(row) {
		from, to := text.Width(row[:part[0]]), text.Width(row[:part[1]])
		if to = min(to, width); from < to {
			c.restyle(x+from, y, to-from, func(s tcell.Style) tcell.Style { return s.Reverse(true) })
		}
	}
}

// drawState draws the state of the search up to a column.
func (f *textFinder) drawState(c canvas, end, y int) {
	state := f.state()
	width := text.Width(state)
	c.text(end-width, y, width, state, c.theme.style(view.Accent))
}

// seek begins a search; empty terms end it.
func (f *textFinder) seek(terms logquery.Query) {
	*f = textFinder{found: terms, at: -1, fresh: true}
}

// arrive shows the first match after the user's position, or else the first one of all.
func (f *textFinder) arrive(first *int, height int) {
	if !f.fresh {
		return
	}
	f.fresh = false
	if len(f.rows) == 0 {
		return
	}
	if f.at = slices.IndexFunc(f.rows, func(row int) bool { return row >= *first }); f.at < 0 {
		f.at = 0
	}
	if !between(f.rows[f.at], *first, *first+height) {
		*first = max(0, f.rows[f.at]-height/3)
	}
}

// askFindInText asks for a text, and shows the nearest match after each letter. Esc goes back to the position before the search.
func (u *ui) askFindInText() {
	p, ok := u.top().(page)
	if !ok {
		return
	}
	f := p.search()
	first, _ := p.window()
	before, from := *f, *first
	seek := func(s string) error {
		terms, err := logquery.Pattern(s)
		if err == nil {
			*first = from
			f.seek(terms)
		}
		return err
	}
	u.ask("find: ", "", seek, func(s string, ok bool) {
		if !ok {
			*f, *first = before, from
			return
		}
		if err := seek(s); err != nil {
			u.say(err.Error())
		}
		f.deep = true
	})
}

// noSearchInText refuses to go to a match where there is none.
func (u *ui) noSearchInText() error {
	p, ok := u.top().(page)
	switch {
	case !ok:
	case p.search().found.Empty():
		return problem.New("no search text", u.keyOf("find-text", "asks for one"))
	case len(p.search().rows) == 0:
		return problem.New(fmt.Sprintf("%q is not here", p.search().found.Text), "")
	}
	return nil
}

// findInTextAgain shows the next or the previous match.
func (u *ui) findInTextAgain(back bool) {
	p, ok := u.top().(page)
	if !ok {
		return
	}
	f := p.search()
	next := f.at + 1
	if back {
		next = f.at - 1
	}
	if !between(next, 0, len(f.rows)) {
		u.say(fmt.Sprintf("%q: this is the %s match", f.found.Text, map[bool]string{true: "first", false: "last"}[back]))
		return
	}
	f.at = next
	first, height := p.window()
	*first = max(0, f.rows[f.at]-height/3)
}

// copyText copies the whole page.
func (u *ui) copyText() {
	p, ok := u.top().(page)
	if !ok {
		return
	}
	var b strings.Builder
	lines := p.whole()
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	u.copy(b.String(), countOf(len(lines)), true)
}

// copyDetail copies the selected line of a list, or a whole page of text.
func (u *ui) copyDetail() {
	if list, _ := u.lines(); list == nil {
		u.copyText()
	} else if l := list.line(); l != nil {
		u.copy(l.Cell.String()+"\n", countOf(1), true)
	}
}

// noDetail refuses where no line is selected.
func (u *ui) noDetail() error {
	if list, _ := u.lines(); list != nil && list.line() == nil {
		return problem.New("no line is selected", u.keyOf("copy-text", "copies all of them"))
	}
	return nil
}
