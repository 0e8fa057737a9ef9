package loglist

import (
	"math"
	"slices"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// completeLines bounds the lines that are read to complete an item, and the repeats that are counted.
	completeLines = 2000
	// readMore is the number of lines that are read at a time for that.
	readMore = 256
)

// Item is shown and selected as one: a line, or the lines of one entry such as a stack trace. Repeats of a line are
// one item.
type Item struct {
	// First is the number of the first line, of the oldest repeat: it identifies the item.
	First uint64
	// Lines are the lines of the newest repeat.
	Lines []logstore.Line
	// Times counts the repeats; AtLeast is set if the count stopped there.
	Times   int
	AtLeast bool
}

// Last returns the number of the item's last line.
func (it Item) Last() uint64 { return it.Lines[len(it.Lines)-1].Seq }

// Fold selects how lines become items.
type Fold struct {
	// Repeats makes one item of lines that repeat the line before them.
	Repeats bool
}

// ItemsBefore returns roughly the last n items that begin before the line numbered seq, oldest first; fewer if there are no more.
// It reads back until further lines could not change these items, or completeLines more lines were read.
func (l *List) ItemsBefore(seq uint64, n int, fold Fold) []Item {
	if n <= 0 {
		return nil
	}
	lines := l.Before(seq, n)
	end := len(lines) < n
	w := fold.join(lines)
	for budget := completeLines; !end && budget > 0 && !w.whole(n, fold); budget -= readMore {
		more := l.Before(lines[0].Seq, readMore)
		end = len(more) < readMore
		lines = append(more, lines...)
		w = fold.join(lines)
	}
	skip := 0
	if !end && len(w.items) > 1 && fold.open(w.items[0]) {
		skip = 1 // it begins before the lines that were read
	} else if !end && len(w.items) == 1 {
		w.items[0].AtLeast = w.items[0].Times > 1
	}
	w.items = w.items[max(skip, len(w.items)-n):]
	if seq < math.MaxUint64 {
		l.complete(lines, seq, fold, w.items)
	}
	return w.items
}

// complete adds to items the lines from seq on that continue them. lines are the lines before seq. It reads on until no item has
// grown for reach lines, or completeLines lines were read.
func (l *List) complete(lines []logstore.Line, seq uint64, fold Fold, items []Item) {
	var own []logstore.Line
	for budget := completeLines; budget > 0; budget -= reach {
		at := seq - 1
		if len(own) > 0 {
			at = own[len(own)-1].Seq
		}
		more := l.After(at, reach)
		own = append(own, more...)
		w := fold.join(slices.Concat(lines, own))
		grown := 0
		for i := range w.items {
			if w.items[i].First >= seq {
				break
			}
			grown = max(grown, w.ends[i])
			for k := range items {
				if items[k].First == w.items[i].First && len(items[k].Lines) < len(w.items[i].Lines) {
					items[k].Lines = w.items[i].Lines
				}
			}
		}
		if len(more) < reach || w.n-grown > reach {
			return
		}
	}
}

// ItemsAfter returns the first n items that begin after the line numbered seq, oldest first; fewer if there are no more. It reads
// on until these items can no longer grow, or completeLines lines were read.
func (l *List) ItemsAfter(seq uint64, n int, fold Fold) []Item {
	if n <= 0 {
		return nil
	}
	var lines []logstore.Line
	if seq > 0 && seq < math.MaxUint64 {
		lines = l.Before(seq+1, reach) // a line that continues one of these does not begin an item
	}
	end, at := false, seq
	var w window
	var items []Item
	for budget := completeLines; !end && budget > 0; budget -= readMore {
		more := l.After(at, max(n+1, readMore))
		end = len(more) < max(n+1, readMore)
		if len(more) > 0 {
			at = more[len(more)-1].Seq
		}
		lines = append(lines, more...)
		w = fold.join(lines)
		from := 0
		for from < len(w.items) && w.items[from].First <= seq {
			from++
		}
		if items = w.items[from:]; len(items) > n && w.n-slices.Max(w.ends[from:from+n]) > reach {
			break
		}
	}
	if !end && len(items) <= n && len(items) > 0 {
		last := &items[len(items)-1]
		last.AtLeast = last.Times > 1
	}
	return items[:min(n, len(items))]
}

// ItemOf returns the item that a line belongs to, or the first one after it; ok is false if there is none.
func (l *List) ItemOf(seq uint64, fold Fold) (it Item, ok bool) {
	for _, it := range slices.Backward(l.ItemsBefore(seq+1, 4*reach, fold)) {
		if it.Times > 1 && it.Last() >= seq || slices.ContainsFunc(it.Lines, func(line logstore.Line) bool { return line.Seq == seq }) {
			return it, true
		}
	}
	if items := l.ItemsAfter(seq-1, 1, fold); len(items) > 0 {
		return items[0], true
	}
	return Item{}, false
}

// open reports whether an item may have begun before the lines that it was made of.
func (f Fold) open(it Item) bool { return it.Lines[0].Continues || f.Repeats && len(it.Lines) == 1 }

// reach bounds the distance of two lines of an entry, with the lines of other streams between them.
const reach = 64

// window is lines that were joined to items.
type window struct {
	items []Item
	// starts and ends are the indexes, among the n lines, of the first and the last line of each item.
	starts, ends []int
	n            int
	last         map[stream]lastItems
	before       map[uint64]logstore.Line // the newest but one of the repeats, by the first line of the item
}

// whole reports whether the last n items would be the same if more lines before them were known.
func (w window) whole(n int, fold Fold) bool {
	first := len(w.items) - n
	if first < 0 || first == 0 && fold.open(w.items[0]) {
		return false
	}
	for i := first; i < len(w.items); i++ {
		if w.starts[i] < reach && w.items[i].Lines[0].Continues {
			return false
		}
	}
	return true
}

// stream writes lines in order. Its lines may stand between the lines of others.
type stream struct {
	resource             model.ManifestName
	source               logstore.Source
	span, pod, container string
}

func streamOf(l logstore.Line) stream {
	return stream{l.Resource, l.Source, l.Span, l.Pod, l.Container}
}

// lastItems are the last items of a stream, by their places: of all, and of each level, since both outputs of a program may be
// one stream, in which the lines of a trace stand between other lines.
type lastItems struct {
	any   int
	level [logstore.LevelError + 1]int
}

// none are the last items of a stream that has none.
var none = lastItems{-1, [logstore.LevelError + 1]int{-1, -1, -1, -1}}

// join makes items of lines. A line that continues an entry belongs to the newest one of its stream and its level.
func (f Fold) join(lines []logstore.Line) window {
	lines = latest(lines)
	w := window{items: make([]Item, 0, len(lines)), starts: make([]int, 0, len(lines)), ends: make([]int, 0, len(lines)),
		last: map[stream]lastItems{}, before: map[uint64]logstore.Line{}, n: len(lines)}
	for i, line := range lines {
		from := streamOf(line)
		switch {
		case line.Continues && w.extend(from, line, i):
		case f.Repeats && !line.Continues && w.repeat(from, line, i):
		default:
			w.add(from, line, i)
		}
	}
	return w
}

// add begins an item with line i.
func (w *window) add(from stream, line logstore.Line, i int) {
	w.items = append(w.items, Item{First: line.Seq, Lines: []logstore.Line{line}, Times: 1})
	w.starts, w.ends = append(w.starts, i), append(w.ends, i)
	w.note(from, line.Level, len(w.items)-1)
}

func (w *window) note(from stream, level logstore.Level, at int) {
	last, ok := w.last[from]
	if !ok {
		last = none
	}
	last.any, last.level[level] = at, at
	w.last[from] = last
}

// extend adds line i to the entry that it continues, and reports whether there is one: the last item of its stream and level, or
// if that is too far away, the last of its stream.
func (w *window) extend(from stream, line logstore.Line, i int) bool {
	last, ok := w.last[from]
	if !ok {
		return false
	}
	at := last.level[line.Level]
	if at < 0 || i-w.ends[at] > reach {
		at = last.any
	}
	if i-w.ends[at] > reach {
		return false
	}
	if w.items[at].Times > 1 { // the entry is the newest repeat; the others stay
		at = w.split(from, at)
	}
	w.items[at].Lines = append(w.items[at].Lines, line)
	w.ends[at] = i
	return true
}

// repeat adds line i to the item before it, if it repeats it.
func (w *window) repeat(from stream, line logstore.Line, i int) bool {
	n := len(w.items) - 1
	if n < 0 {
		return false
	}
	it := &w.items[n]
	is := it.Lines[0]
	single := len(it.Lines) == 1 && !is.Continues && line.ProgressID == ""
	alike := streamOf(is) == from && is.Level == line.Level
	if !single || !alike || !logline.Repeats(is.Text, line.Text) {
		return false
	}
	w.before[it.First], it.Lines = is, []logstore.Line{line}
	it.Times++
	w.ends[n] = i
	return true
}

// split makes an item of the newest repeat of an item, and returns its place.
func (w *window) split(from stream, at int) int {
	newest := w.items[at].Lines[0]
	w.items[at].Times--
	w.items[at].Lines = []logstore.Line{w.before[w.items[at].First]}
	w.items = slices.Insert(w.items, at+1, Item{First: newest.Seq, Lines: []logstore.Line{newest}, Times: 1})
	w.starts, w.ends = slices.Insert(w.starts, at+1, w.ends[at]), slices.Insert(w.ends, at+1, w.ends[at])
	for s, last := range w.last {
		for _, i := range []*int{&last.any, &last.level[0], &last.level[1], &last.level[2], &last.level[3]} {
			if *i > at {
				*i++
			}
		}
		w.last[s] = last
	}
	last := w.last[from]
	for _, i := range []*int{&last.any, &last.level[newest.Level]} {
		if *i == at {
			*i = at + 1
		}
	}
	w.last[from] = last
	return at + 1
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
