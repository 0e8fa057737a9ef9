package screen

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/words"
)

// region is text of the log that the mouse has selected: from one place to another as it is read, or the block between them.
type region struct {
	from, to textSpot
	block    bool
}

// textSpot is a column of a row of the log, counted from where the text begins.
type textSpot struct {
	spot
	col int
}

// compare orders rows as they are read.
func (s spot) compare(o spot) int {
	return cmp.Or(cmp.Compare(s.seq, o.seq), cmp.Compare(s.row, o.row))
}

// compare orders places in the text as they are read.
func (s textSpot) compare(o textSpot) int {
	return cmp.Or(s.spot.compare(o.spot), cmp.Compare(s.col, o.col))
}

// mostRegion bounds the rows of a region, and regionStep the rows that are read at a time.
const mostRegion, regionStep = 20_000, 256

// textAt returns the place in the text that is shown at a place of the terminal; ok is false outside of the text.
func (p *logPane) textAt(x, y int) (at textSpot, ok bool) {
	i := p.area.rowAt(x, y, 0, len(p.rows))
	if i < 0 {
		return textSpot{}, false
	}
	r := p.rows[i]
	return textSpot{r.spot(), x - p.area.x - r.item.indent}, x >= p.area.x+r.item.indent
}

// columns returns the selected columns of a row, the end excluded; none if end is not greater than start.
func (g *region) columns(at spot) (start, end int) {
	first, last := g.from, g.to
	if last.compare(first) < 0 {
		first, last = last, first
	}
	if at.compare(first.spot) < 0 || last.spot.compare(at) < 0 {
		return 0, 0
	}
	if g.block {
		return min(first.col, last.col), max(first.col, last.col) + 1
	}
	start, end = 0, 1<<30
	if at == first.spot {
		start = first.col
	}
	if at == last.spot {
		end = last.col + 1
	}
	return start, end
}

// empty reports whether there is no region, or the mouse has not moved yet.
func (g *region) empty() bool { return g == nil || g.from == g.to }

// drawRegion highlights the selected text of a row.
func (p *logPane) drawRegion(c canvas, area rect, r rowOf) {
	if p.region.empty() {
		return
	}
	start, end := p.region.columns(r.spot())
	room := area.w - r.item.indent
	at := 0
	for _, g := range r.item.rows[r.row] {
		if between(at, start-g.Width+1, end) && at+g.Width <= room {
			c.restyle(area.x+r.item.indent+at, area.y, g.Width, func(s tcell.Style) tcell.Style { return s.Reverse(true) })
		}
		at += g.Width
	}
}

// beginsLine reports whether a row is the first one of a line.
func (r rowOf) beginsLine() bool {
	return r.row == 0 || r.item.starts[r.row] != r.item.starts[r.row-1]
}

// regionText returns the text of a region. Rows that are one line are joined, unless a block was selected. whole is false if it
// was too much.
func (r rowReader) regionText(ctx context.Context, g *region) (s string, whole bool) {
	top, bottom := g.from.spot, g.to.spot
	if bottom.compare(top) < 0 {
		top, bottom = bottom, top
	}
	var b strings.Builder
	n := 0
	for next := top; n < mostRegion && ctx.Err() == nil; {
		rows, end := r.from(next, regionStep)
		for i, r := range rows {
			if i == 0 && n > 0 {
				continue // the last one of the step before
			}
			if bottom.compare(r.spot()) < 0 {
				return b.String(), true
			}
			if n > 0 && (g.block || r.beginsLine()) {
				b.WriteByte('\n')
			}
			start, end := g.columns(r.spot())
			at := 0
			for _, cell := range r.item.rows[r.row] {
				if between(at, start-cell.Width+1, end) {
					b.WriteString(cell.Text)
				}
				at += cell.Width
			}
			n++
		}
		if end || len(rows) < 2 {
			return b.String(), true
		}
		next = rows[len(rows)-1].spot()
	}
	return b.String(), false
}

// copyRegion copies the selection of the mouse. It is read away from the drawing: it may be many rows.
func (u *ui) copyRegion() {
	g, rows := u.log.region, u.log.apart()
	if g == nil {
		return
	}
	u.job(func(ctx context.Context) func() {
		s, whole := rows.regionText(ctx, g)
		return func() {
			if u.log.region == g {
				u.log.region = nil
			}
			if strings.TrimSpace(s) == "" {
				return
			}
			what := words.Count(utf8.RuneCountInString(s), "character")
			if n := strings.Count(s, "\n"); n > 0 {
				what = countOf(n + 1)
			}
			u.copy(s, what, whole)
		}
	})
}
