package screen

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// textFinder finds text in a page as finder does in the log: without hiding other lines, from where the user is.
type textFinder struct {
	found loglist.Terms
	// rows are those with a match, and at is which of them the user is at; -1 for none.
	rows []int
	at   int
	// fresh is set until the first match from where the user is was shown.
	fresh bool
}

// look finds the rows that match.
func (f *textFinder) look(rows []view.Cell) {
	f.rows = f.rows[:0]
	if f.found.Empty() {
		return
	}
	for i, row := range rows {
		if len(f.found.Marks(row.String())) > 0 {
			f.rows = append(f.rows, i)
		}
	}
	f.at = min(f.at, len(f.rows)-1)
}

// state says what is looked for and where the user is among the matches.
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

// seek begins a search; empty terms end the one before.
func (r *reader) seek(terms loglist.Terms) {
	r.textFinder = textFinder{found: terms, at: -1, fresh: true}
}

// step shows the next or the previous match.
func (r *reader) step(back bool) {
	next := r.at + 1
	if back {
		next = r.at - 1
	}
	if next < 0 || next >= len(r.rows) {
		r.ui.say(fmt.Sprintf("%q: this is the %s match", r.found.Text, map[bool]string{true: "first", false: "last"}[back]))
		return
	}
	r.at = next
	r.offset = r.rows[r.at] - r.height/3
}

// arrive shows the first match from where the user is, or else the first one.
func (r *reader) arrive() {
	if !r.fresh {
		return
	}
	r.fresh = false
	for i, row := range r.rows {
		if row >= r.offset || r.at < 0 {
			r.at = i
		}
		if row >= r.offset {
			break
		}
	}
	if r.at >= 0 && (r.rows[r.at] < r.offset || r.rows[r.at] >= r.offset+r.height) {
		r.offset = r.rows[r.at] - r.height/3
	}
}

func (u *ui) askFindInText() {
	u.ask("find: ", "", func(s string) error {
		_, err := loglist.Pattern(s)
		return err
	}, func(s string, ok bool) {
		r, isReader := u.top().(*reader)
		terms, err := loglist.Pattern(s)
		switch {
		case !ok || !isReader:
		case err != nil:
			u.say(err.Error())
		default:
			r.seek(terms)
		}
	})
}

func (u *ui) findInTextAgain(back bool) {
	r, ok := u.top().(*reader)
	switch {
	case !ok:
	case r.found.Empty():
		u.say("no search text: press f to enter it")
	case len(r.rows) == 0:
		u.say(fmt.Sprintf("%q is not here", r.found.Text))
	default:
		r.step(back)
	}
}

// copyText copies the whole page.
func (u *ui) copyText() {
	r, ok := u.top().(*reader)
	if !ok {
		return
	}
	var b strings.Builder
	lines := r.content(r.width)
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	u.copy(b.String(), countOf(len(lines)), true)
}
