package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logline"
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
	// from is the first position; negative for the end of the log.
	from, count int
	// find is the text to find, and foundKey identifies the filter together with it; back is the direction.
	find     func(line []byte) bool
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
	if s.work(r.Context(), func() { window, err = index.window(r.Context(), s.options.Logs, q.from, q.count) }) && err == nil {
		respond(w, window)
	}
}

// indexed returns the index of a query, up to the newest line; ok is false if the request has ended.
func (s *Subscriber) indexed(ctx context.Context, q windowQuery) (index *logIndex, ok bool) {
	index = s.windows.index(q)
	for done := false; !done; {
		if !s.work(ctx, func() { done = index.extend(ctx, s.options.Logs) }) || ctx.Err() != nil {
			return nil, false
		}
	}
	return index, true
}

func readWindowQuery(v url.Values, now time.Time) (q windowQuery, err error) {
	q.from, q.count = -1, usualWindow
	for key := range v {
		if !slices.Contains(filterParameters, key) && !slices.Contains([]string{"find", "back", "from", "count", "seq"}, key) {
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
	if q.filter, err = logFilter(v, now); err != nil {
		return q, err
	}
	if q.after, err = lineNumber(v, "after"); err != nil {
		return q, err
	}
	if q.seq, err = lineNumber(v, "seq"); err != nil {
		return q, err
	}
	if q.find, err = textMatch(v.Get("find")); err != nil {
		return q, err
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

// textMatch returns the test of parameter text, for the visible text of a line; nil for no text.
func textMatch(text string) (func(line []byte) bool, error) {
	if text == "" {
		return nil, nil
	}
	if pattern, ok := strings.CutPrefix(text, "/"); ok && len(pattern) > 1 && strings.HasSuffix(pattern, "/") {
		re, err := regexp.Compile(strings.TrimSuffix(pattern, "/"))
		if err != nil {
			return nil, fmt.Errorf("text: %w", err)
		}
		return func(line []byte) bool { return re.Match(visible(line)) }, nil
	}
	re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
	return func(line []byte) bool { return re.Match(visible(line)) }, nil
}

// visible returns a line without its escape sequences.
func visible(line []byte) []byte {
	if bytes.IndexByte(line, '\x1b') < 0 {
		return line
	}
	return []byte(logline.Plain(string(line)))
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

// extend looks at lines that were stored since, and reports whether those were all. It stops early, so that a request for a long log
// takes turns with others.
func (x *logIndex) extend(ctx context.Context, logs *logstore.Store) (all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	newest := logs.Newest()
	to := min(newest, x.seq+scanPiece)
	marks, end := len(x.marks), x.end
	err := logs.Scan(ctx, x.filter, x.seq, to+1, false, func(l logstore.LineRef) bool {
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
	return to >= newest
}

// window returns count positions beginning at from, or the last ones if from is negative.
func (x *logIndex) window(ctx context.Context, logs *logstore.Store, from, count int) (api.LogWindow, error) {
	x.mu.Lock()
	marks, end, seq := x.marks, x.end, x.seq // marks only grow
	x.mu.Unlock()
	out := api.LogWindow{First: firstStored(marks, end, logs.Oldest(logstore.Filter{Resources: x.filter.Resources})), End: end, Lines: []api.LogAt{}}
	if from < 0 {
		from = max(end-count, 0)
	}
	to := min(from+count, end)
	for at := from - from%markEvery; at < to; at += markEvery {
		block := at / markEvery
		// Lines of the block, whose end is the next mark.
		next := seq + 1
		if block+1 < len(marks) {
			next = marks[block+1]
		}
		var lines []logstore.Line
		err := logs.Scan(ctx, x.filter, marks[block]-1, next, false, func(l logstore.LineRef) bool {
			if !l.Replaced {
				lines = append(lines, logstore.Line{Seq: l.Seq, Time: l.Time, Resource: l.Resource, Span: l.Span, Source: l.Source, Level: l.Level,
					Continues: l.Continues, Prefix: l.Prefix, Pod: l.Pod, Container: l.Container, Text: string(l.Text)})
			}
			return true
		})
		if err != nil {
			return out, err
		}
		// Where lines were dropped, the others keep the end of the block: a resource loses its oldest lines.
		shift := min(markEvery, end-at) - len(lines)
		for i, l := range lines {
			if p := at + shift + i; p >= from && p < to {
				out.Lines = append(out.Lines, api.LogAt{At: p, LogLine: snapshot.Line(l)})
			}
		}
	}
	return out, nil
}

// firstStored returns the first position whose block still has lines from the oldest number on.
func firstStored(marks []uint64, end int, oldest uint64) int {
	i := sort.Search(len(marks), func(i int) bool { return marks[i] >= oldest })
	if i == len(marks) && oldest > 0 && i > 0 {
		i-- // the oldest line is in the last block
	}
	if i > 0 && i < len(marks) && marks[i] > oldest {
		i--
	}
	return min(i*markEvery, end)
}
