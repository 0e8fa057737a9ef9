package loglist

import (
	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
)

const (
	// completeLines bounds how many lines are read to complete an item, and how many repeats are counted.
	completeLines = 2000
	// readMore is how many lines are read at a time for that.
	readMore = 256
)

// Item is what is shown and selected as one: a line, or the lines of one entry such as a stack trace. Repeats of a line are
// one item.
type Item struct {
	// First is the number of the first line, of the oldest repeat: it identifies the item.
	First uint64
	// Lines are the lines of the newest repeat.
	Lines []logstore.Line
	// Times is how many repeats there are; AtLeast is set if only so many were counted.
	Times   int
	AtLeast bool
}

// Last returns the number of the item's last line.
func (it Item) Last() uint64 { return it.Lines[len(it.Lines)-1].Seq }

// Fold is how lines become items.
type Fold struct {
	// Repeats makes one item of lines that repeat the line before them.
	Repeats bool
}

// ItemsBefore returns about the last n items before the line numbered seq, oldest first; fewer if there are no more.
func (l *List) ItemsBefore(seq uint64, n int, fold Fold) []Item {
	if n <= 0 {
		return nil
	}
	lines := l.Before(seq, n)
	end := len(lines) < n
	for budget := completeLines; !end && budget > 0; budget -= readMore {
		items := fold.items(lines)
		if len(items) > n || len(items) == n && !fold.open(items[0]) {
			break
		}
		more := l.Before(lines[0].Seq, readMore)
		end = len(more) < readMore
		lines = append(more, lines...)
	}
	items := fold.items(lines)
	if !end && len(items) > 1 && fold.open(items[0]) {
		items = items[1:] // it begins before what was read
	} else if !end && len(items) == 1 {
		items[0].AtLeast = items[0].Times > 1
	}
	return items[max(0, len(items)-n):]
}

// ItemsAfter returns the first n items after the line numbered seq, oldest first; fewer if there are no more.
func (l *List) ItemsAfter(seq uint64, n int, fold Fold) []Item {
	if n <= 0 {
		return nil
	}
	var lines []logstore.Line
	end := false
	for budget := completeLines; !end && budget > 0; budget -= readMore {
		more := l.After(seq, max(n+1, readMore))
		end = len(more) < max(n+1, readMore)
		if len(more) > 0 {
			seq = more[len(more)-1].Seq
		}
		lines = append(lines, more...)
		if len(fold.items(lines)) > n {
			break
		}
	}
	items := fold.items(lines)
	if !end && len(items) <= n && len(items) > 0 {
		last := &items[len(items)-1]
		last.AtLeast = last.Times > 1
	}
	return items[:min(n, len(items))]
}

// open reports whether an item may have begun before the lines that it was made of.
func (f Fold) open(it Item) bool { return it.Lines[0].Continues || f.Repeats && len(it.Lines) == 1 }

// items groups lines.
func (f Fold) items(lines []logstore.Line) []Item {
	lines = latest(lines)
	items := make([]Item, 0, len(lines))
	for i, line := range lines {
		if n := len(items); n > 0 {
			last := &items[n-1]
			switch before := last.Lines[len(last.Lines)-1]; {
			case line.Continues && related(before, line):
				if last.Times > 1 { // the entry is the last repeat; the others stay
					last.Times--
					last.Lines = lines[i-2 : i-1 : i-1]
					items = append(items, Item{First: before.Seq, Lines: []logstore.Line{before}, Times: 1})
					last = &items[n]
				}
				last.Lines = append(last.Lines, line)
				continue
			case f.Repeats && len(last.Lines) == 1 && line.ProgressID == "" && related(before, line) && line.Level == before.Level &&
				logline.Repeats(before.Text, line.Text):
				last.Lines = []logstore.Line{line}
				last.Times++
				continue
			}
		}
		items = append(items, Item{First: line.Seq, Lines: []logstore.Line{line}, Times: 1})
	}
	return items
}

// related reports whether two lines come from the same stream.
func related(a, b logstore.Line) bool {
	return a.Resource == b.Resource && a.Source == b.Source && a.Span == b.Span && a.Pod == b.Pod && a.Container == b.Container
}

// latest omits progress lines that a later line among them replaces.
func latest(lines []logstore.Line) []logstore.Line {
	type key struct{ span, id string }
	last := map[key]uint64{}
	for _, l := range lines {
		if l.ProgressID != "" {
			last[key{l.Span, l.ProgressID}] = l.Seq
		}
	}
	if len(last) == 0 {
		return lines
	}
	out := lines[:0:0]
	for _, l := range lines {
		if l.ProgressID == "" || last[key{l.Span, l.ProgressID}] == l.Seq {
			out = append(out, l)
		}
	}
	return out
}
