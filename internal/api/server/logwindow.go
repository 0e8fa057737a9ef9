package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/api"
)

const (
	// markEvery is the number of positions between two marks of a log's index.
	markEvery = 256
	// scanPiece is the number of lines that a request scans before others have their turn.
	scanPiece = 100_000
	// mostWindow is the most positions of a window, and usualWindow their number without a parameter.
	mostWindow, usualWindow = 1000, 200
	// mostIndexes is the most filters whose indexes are kept.
	mostIndexes = 16
)

// windowQuery is the query of a request for a window of the log.
type windowQuery struct {
	// key identifies the filter among all. Lines up to number after are left out.
	key    string
	filter logstore.Filter
	after  uint64
	// since and until bound the times of the lines. They move on, so that they are no part of the filter.
	since, until time.Time
	// from is the first position; negative for the end of the log.
	from, count int
	// found is the filter of the lines with the text to find, and foundKey identifies it; back is the direction.
	found    *logstore.Filter
	foundKey string
	back     bool
	// seq is the number of a line to find; 0 for none.
	seq uint64
}

// logWindow handles GET /api/logs/window.
func (s *Subscriber) logWindow(src *source, w http.ResponseWriter, r *http.Request) {
	if s.options.Logs == nil {
		fail(w, http.StatusNotFound, "this session keeps no logs")
		return
	}
	q, err := readWindowQuery(r.URL.Query(), time.Now())
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := s.audible(src.View(), q.filter.Resources); err != nil {
		failBy(w, http.StatusNotFound, err)
		return
	}
	index, ok := s.indexed(r.Context(), q)
	if !ok {
		return
	}
	var window api.LogWindow
	if s.work(r.Context(), func() { window, err = index.window(r.Context(), s.options.Logs, q.since, q.from, q.count) }) && err == nil {
		respond(w, window)
	}
}

// indexed returns the index of a query, up to the newest line; ok is false if the request has ended.
func (s *Subscriber) indexed(ctx context.Context, q windowQuery) (index *logIndex, ok bool) {
	index = s.windows.index(q)
	for done := false; !done; {
		if !s.work(ctx, func() { done = index.extend(ctx, s.options.Logs, q.until) }) || ctx.Err() != nil {
			return nil, false
		}
	}
	return index, true
}

func readWindowQuery(v url.Values, now time.Time) (q windowQuery, err error) {
	q.from, q.count = -1, usualWindow
	for key := range v {
		if !slices.Contains(selectors, key) && !slices.Contains([]string{"find", "back", "from", "count", "seq"}, key) {
			return q, fmt.Errorf("parameter %q is not known", key)
		}
	}
	if f := v.Get("from"); f != "" {
		if q.from, err = strconv.Atoi(f); err != nil || q.from < 0 {
			return q, fmt.Errorf("from: %q is not a position", f)
		}
	}
	if c := v.Get("count"); c != "" {
		if q.count, err = strconv.Atoi(c); err != nil || q.count < 0 || q.count > mostWindow {
			return q, fmt.Errorf("count: %q is not a number of lines up to %d", c, mostWindow)
		}
	}
	filter, typed, err := readSelectors(v)
	if err != nil {
		return q, err
	}
	typed.Narrow(&filter, now)
	q.since, filter.Since = filter.Since, time.Time{}
	if delay := typed.Delay(); delay > 0 {
		q.until = now.Add(-delay)
	}
	q.filter = filter
	if q.after, err = lineNumber(v, "after"); err != nil {
		return q, err
	}
	if q.seq, err = lineNumber(v, "seq"); err != nil {
		return q, err
	}
	find, err := logquery.Pattern(v.Get("find"))
	if err != nil {
		return q, fmt.Errorf("find: %w", err)
	}
	if !find.Empty() {
		find.Narrow(&filter, now)
		q.found = &filter
	}
	q.back = v.Get("back") == "true"
	for _, place := range []string{"from", "count", "back", "seq"} {
		v.Del(place)
	}
	q.foundKey = v.Encode()
	v.Del("find")
	q.key = v.Encode()
	return q, nil
}

// logWindows remembers the indexes of the filters that were used last. The zero value is empty.
type logWindows struct {
	mu   sync.Mutex
	used []*logIndex // guarded by mu; most recently used first
}

// index returns the index of a query's filter.
func (w *logWindows) index(q windowQuery) *logIndex {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.used, func(x *logIndex) bool { return x.key == q.key })
	x := &logIndex{key: q.key, filter: q.filter, seq: q.after}
	if i >= 0 {
		x = w.used[i]
		w.used = slices.Delete(w.used, i, i+1)
	}
	w.used = slices.Insert(w.used, 0, x)
	w.used = w.used[:min(len(w.used), mostIndexes)]
	return x
}

// logIndex finds lines of a filter by position. It knows the number of every markEvery-th line that matches, and grows with the log:
// each line is looked at once. Positions count from the lines that were stored when the index was made.
type logIndex struct {
	key    string
	filter logstore.Filter

	mu sync.Mutex
	// marks[i] is the number of the line at position i*markEvery, end the position after the newest line that was looked at, and seq the
	// number of that line.
	marks []uint64 // guarded by mu, as all below
	end   int
	seq   uint64
}

// extend looks at lines that were stored since, up to the first that is younger than until unless that is zero, and reports whether
// those were all. It stops early, so that a request for a long log takes turns with others.
func (x *logIndex) extend(ctx context.Context, logs *logstore.Store, until time.Time) (all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	newest := logs.Newest()
	to, all := min(newest, x.seq+scanPiece), newest <= x.seq+scanPiece
	marks, end := len(x.marks), x.end
	err := logs.Scan(ctx, x.filter, x.seq, to+1, false, func(l logstore.LineRef) bool {
		if !until.IsZero() && l.Time.After(until) {
			to, all = l.Seq-1, true
			return false
		}
		if l.Replaced {
			return true // only a screen that draws it at once can replace a line
		}
		if x.end%markEvery == 0 {
			x.marks = append(x.marks, l.Seq)
		}
		x.end++
		return true
	})
	if err != nil { // the request has ended: nothing of this piece counts
		x.marks, x.end = x.marks[:marks], end
		return true
	}
	x.seq = to
	return all
}

// extent returns a copy of the index as it is now.
func (x *logIndex) extent() extent {
	x.mu.Lock()
	defer x.mu.Unlock()
	return extent{filter: x.filter, marks: x.marks, end: x.end, seq: x.seq} // marks only grow
}

// window returns count positions beginning at from, or the last ones if from is negative. Lines before since have no positions.
func (x *logIndex) window(ctx context.Context, logs *logstore.Store, since time.Time, from, count int) (api.LogWindow, error) {
	e := x.extent()
	out := api.LogWindow{First: e.firstStored(logs.Oldest(logstore.Filter{Resources: e.filter.Resources})), End: e.end, Lines: []api.LogAt{}}
	if !since.IsZero() {
		first, err := e.firstSince(ctx, logs, since)
		if err != nil {
			return out, err
		}
		out.First = max(out.First, first)
	}
	if from < 0 {
		from = e.end - count
	}
	from = max(from, 0)
	to := min(from+count, e.end)
	for n := from / markEvery; n*markEvery < to; n++ {
		at, lines, err := e.block(ctx, logs, n)
		if err != nil {
			return out, err
		}
		for i, l := range lines {
			if p := at + i; p >= max(from, out.First) && p < to {
				out.Lines = append(out.Lines, api.LogAt{At: p, LogLine: snapshot.Line(l)})
			}
		}
	}
	return out, nil
}

// extent is the part of the log that an index knows.
type extent struct {
	filter logstore.Filter
	marks  []uint64
	end    int
	seq    uint64
}

// block returns the lines between mark n and the next, and the position of the first of them. Where lines were dropped, the others keep
// the end of the block: a resource loses its oldest lines.
func (e extent) block(ctx context.Context, logs *logstore.Store, n int) (at int, lines []logstore.Line, err error) {
	next := e.seq + 1
	if n+1 < len(e.marks) {
		next = e.marks[n+1]
	}
	err = logs.Scan(ctx, e.filter, e.marks[n]-1, next, false, func(l logstore.LineRef) bool {
		if !l.Replaced {
			lines = append(lines, logstore.Line{Seq: l.Seq, Time: l.Time, Resource: l.Resource, Span: l.Span, Source: l.Source, Level: l.Level,
				Continues: l.Continues, Prefix: l.Prefix, Pod: l.Pod, Container: l.Container, Text: string(l.Text)})
		}
		return true
	})
	return min((n+1)*markEvery, e.end) - len(lines), lines, err
}

// firstSince returns the position of the first line that is not older than since. Lines are about in the order of their times.
func (e extent) firstSince(ctx context.Context, logs *logstore.Store, since time.Time) (int, error) {
	n := sort.Search(len(e.marks), func(i int) bool {
		line := logs.ReadAfter(logstore.Filter{Resources: e.filter.Resources}, e.marks[i]-1, 1)
		return len(line) == 0 || !line[0].Time.Before(since)
	})
	if n == 0 {
		return 0, nil
	}
	at, lines, err := e.block(ctx, logs, n-1)
	young := slices.IndexFunc(lines, func(l logstore.Line) bool { return !l.Time.Before(since) })
	if young < 0 {
		young = len(lines)
	}
	return at + young, err
}

// firstStored returns the first position whose block still has lines from the oldest number on.
func (e extent) firstStored(oldest uint64) int {
	marks := e.marks
	i := sort.Search(len(marks), func(i int) bool { return marks[i] >= oldest })
	if i == len(marks) && oldest > 0 && i > 0 {
		i-- // the oldest line is in the last block
	}
	if i > 0 && i < len(marks) && marks[i] > oldest {
		i--
	}
	return min(i*markEvery, e.end)
}
