package server

import (
	"context"
	"net/http"
	"sort"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/api"
)

// logFind handles GET /api/logs/find.
func (s *Subscriber) logFind(src *source, w http.ResponseWriter, r *http.Request) {
	if s.options.Logs == nil {
		fail(w, http.StatusNotFound, "this session keeps no logs")
		return
	}
	q, err := readWindowQuery(r.URL.Query(), time.Now())
	switch {
	case err != nil:
		fail(w, http.StatusBadRequest, err.Error())
		return
	case q.found == nil && q.seq == 0:
		fail(w, http.StatusBadRequest, "find: name the text to find, or seq: the number of a line")
		return
	}
	if err := s.audible(src.View(), q.filter.Resources); err != nil {
		failBy(w, http.StatusNotFound, err)
		return
	}
	ctx := r.Context()
	shown, ok := s.indexed(ctx, q)
	if !ok {
		return
	}
	if q.seq > 0 {
		at := -1
		if s.work(ctx, func() { at, err = shown.rank(ctx, s.options.Logs, q.seq) }) && err == nil {
			respond(w, api.LogFound{At: at})
		}
		return
	}
	found, ok := s.indexed(ctx, q.matches())
	if !ok {
		return
	}
	var answer api.LogFound
	if s.work(ctx, func() { answer, err = find(ctx, s.options.Logs, shown, found, q) }) && err == nil {
		respond(w, answer)
	}
}

// matches returns the query of the lines that have the text to find.
func (q windowQuery) matches() windowQuery {
	q.key, q.filter = q.foundKey, *q.found
	return q
}

// find returns the match at or after a position of the lines that are shown, or at or before it; negative is the end.
func find(ctx context.Context, logs *logstore.Store, shown, found *logIndex, q windowQuery) (api.LogFound, error) {
	none := api.LogFound{At: -1}
	all, err := found.window(ctx, logs, q.since, 0, 0)
	if err != nil || all.End == all.First {
		return none, err
	}
	seq := logs.Newest() + 1
	if q.from >= 0 {
		at, err := shown.window(ctx, logs, q.since, q.from, 1)
		if err != nil {
			return none, err
		}
		if len(at.Lines) > 0 {
			seq = at.Lines[0].Seq
		}
	}
	if q.back {
		seq++ // the line itself counts
	}
	nth, err := found.rank(ctx, logs, seq)
	if err != nil {
		return none, err
	}
	if q.back {
		nth--
	}
	switch {
	case nth < all.First:
		nth = all.End - 1
	case nth >= all.End:
		nth = all.First
	}
	match, err := found.window(ctx, logs, q.since, nth, 1)
	if err != nil || len(match.Lines) == 0 {
		return none, err
	}
	at, err := shown.rank(ctx, logs, match.Lines[0].Seq)
	return api.LogFound{At: at, Nth: nth + 1 - all.First, Count: all.End - all.First}, err
}

// rank returns how many positions there are before the line numbered seq, which need not match.
func (x *logIndex) rank(ctx context.Context, logs *logstore.Store, seq uint64) (int, error) {
	e := x.extent()
	block := sort.Search(len(e.marks), func(i int) bool { return e.marks[i] > seq }) - 1
	if block < 0 {
		return 0, nil
	}
	next := e.seq + 1
	if block+1 < len(e.marks) {
		next = e.marks[block+1]
	}
	rest := 0
	err := logs.Scan(ctx, e.filter, max(seq, 1)-1, next, false, func(l logstore.LineRef) bool {
		if !l.Replaced {
			rest++
		}
		return true
	})
	return min((block+1)*markEvery, e.end) - rest, err
}
