package waterfall

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/liggitt/tabwriter"

	"github.com/hone-dev/hone/internal/loop/events"
)

// width is the number of columns of the whole time.
const width = 48

// bars are the characters of the kinds of spans; others have the one of work.
var bars = map[string]rune{Wait: '·', Ready: '░', Layers: '▒'}

const work = '█'

// telling is the share of the whole time from which on the text names a piece: one part in so many.
const telling = 100

// Text writes a waterfall for people: a line for each resource, and the critical path.
func (w Waterfall) Text(out io.Writer) error {
	if len(w.Rows) == 0 {
		_, err := fmt.Fprintln(out, "No resource has begun to start.")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	beside := ""
	if slices.ContainsFunc(w.Rows, func(r Row) bool { return len(r.Layers) > 0 }) {
		beside = " ▒ layers sent ahead,"
	}
	fmt.Fprintf(t, "\nWhere the time went: █ work,%s ░ getting ready, · waiting; × failed, ▶ on the critical path\n", beside)
	if w.Missed > 0 {
		fmt.Fprintf(t, "%d events are missing: the beginning may be, too\n", w.Missed)
	}
	critical := map[string]bool{}
	for _, p := range w.Critical {
		critical[p.Resource] = true
	}
	for _, r := range w.Rows {
		mark := " "
		if critical[r.Resource] {
			mark = "▶"
		}
		fmt.Fprintf(t, "%s %s\t│%s│\t%s\n", mark, r.Resource, w.bar(r.Spans), took(r.Spans[len(r.Spans)-1].End.Sub(w.Start)))
		if len(r.Layers) > 0 {
			fmt.Fprintf(t, "\t│%s│\t\n", w.bar(r.Layers))
		}
	}
	fmt.Fprintf(t, "\nThe critical path, %s:\n", took(w.End.Sub(w.Start)))
	var rest time.Duration
	for _, p := range w.Critical {
		if d := p.End.Sub(p.Start); d < w.End.Sub(w.Start)/telling {
			rest += d
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", took(p.End.Sub(p.Start)), p.Resource, describe(p.Span))
	}
	if rest > 0 {
		fmt.Fprintf(t, "  %s\t\tshorter pieces\n", took(rest))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the waterfall: %w", err)
	}
	return nil
}

// bar draws spans. Each has at least one column.
func (w Waterfall) bar(spans []Span) string {
	cells := []rune(strings.Repeat(" ", width))
	column := func(at time.Time) int { return int(width * at.Sub(w.Start) / max(w.End.Sub(w.Start), 1)) }
	for _, s := range spans {
		c, ok := bars[s.Kind]
		if !ok {
			c = work
		}
		from := min(column(s.Start), width-1)
		to := min(max(column(s.End), from+1), width)
		for i := from; i < to; i++ {
			cells[i] = c
		}
		if s.Failed {
			cells[to-1] = '×'
		}
	}
	return string(cells)
}

// describe says in words how a span spent its time.
func describe(s Span) string {
	if s.Kind == Wait && s.Text != "" {
		return events.OneLine(s.Text)
	}
	return strings.TrimSpace(s.Kind + " " + s.Text)
}

func took(d time.Duration) string { return events.Took(events.Ms(d)) }
