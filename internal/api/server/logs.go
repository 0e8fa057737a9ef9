package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// logChunk is the most lines of a log that a request holds at a time.
const logChunk = 512

// sinceSave is the value of since that stands for the newest save.
const sinceSave = "save"

// savedIn returns the time of the newest save of resources, or of all if there are no names; zero if there was none.
func savedIn(v store.View, names []model.ManifestName) (newest time.Time) {
	for e := range state.Updates.In(v).Refs() {
		asked := len(names) == 0 || slices.Contains(names, model.ManifestName(e.ID))
		if at := e.Value.SavedAt(); asked && at.After(newest) {
			newest = at
		}
	}
	return newest
}

// logQuery is the query of a request for logs.
type logQuery struct {
	filter logstore.Filter
	// tail is the number of newest lines requested; negative requests all.
	tail int
	// after is the number of the line to continue after.
	after  uint64
	follow bool
	// lines requests JSON lines instead of text.
	lines bool
	// saved requests the lines since the newest save of the resources.
	saved bool
}

// logs handles GET /api/logs.
func (s *Subscriber) logs(src *source, w http.ResponseWriter, r *http.Request) {
	if s.options.Logs == nil {
		fail(w, http.StatusNotFound, "this session keeps no logs")
		return
	}
	q, err := readLogQuery(r.URL.Query(), r.Header.Get("Accept"), time.Now())
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := s.audible(src.View(), q.filter.Resources); err != nil {
		failBy(w, http.StatusNotFound, err)
		return
	}
	if q.saved {
		q.filter.Since = savedIn(src.View(), q.filter.Resources)
	}
	w.Header().Set("Content-Type", map[bool]string{true: "application/jsonl", false: "text/plain; charset=utf-8"}[q.lines])
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	s.sendLogs(w, r, q)
}

// audible refuses names that no resource has or has had. Before the first successful evaluation of the Tiltfile, the names are
// unknown, so all are accepted.
func (s *Subscriber) audible(v store.View, names []model.ManifestName) error {
	if !state.TheTiltfile(v).Good {
		return nil
	}
	for _, n := range names {
		if state.Resources.In(v).Ref(string(n)) != nil || n == model.TiltfileName {
			continue
		}
		past := logstore.Filter{Resources: []model.ManifestName{n}}
		if s.options.Logs.Count(past) > 0 || s.options.Logs.Dropped(past) > 0 {
			continue
		}
		all := []string{string(model.TiltfileName)}
		for _, t := range intent.Switchable(v) {
			all = append(all, t.Name)
		}
		return intent.NoResource(v, string(n), all)
	}
	return nil
}

func readLogQuery(v url.Values, accept string, now time.Time) (q logQuery, err error) {
	q.tail = -1
	for key := range v {
		if !slices.Contains(selectors, key) && !slices.Contains([]string{"follow", "tail", "format"}, key) {
			return q, fmt.Errorf("parameter %q is not known", key)
		}
	}
	if f := v.Get("follow"); f != "" {
		if q.follow, err = strconv.ParseBool(f); err != nil {
			return q, fmt.Errorf("follow: %q is neither true nor false", f)
		}
	}
	if t := v.Get("tail"); t != "" {
		if q.tail, err = strconv.Atoi(t); err != nil || q.tail < -1 {
			return q, fmt.Errorf("tail: %q is not a number of lines", t)
		}
	}
	if q.after, err = lineNumber(v, "after"); err != nil {
		return q, err
	}
	if v.Get("since") == sinceSave {
		v.Del("since")
		q.saved = true
	}
	var typed logquery.Query
	if q.filter, typed, err = readSelectors(v); err != nil {
		return q, err
	}
	typed.Fixed(now).Narrow(&q.filter, now)
	media, _, _ := mime.ParseMediaType(accept)
	switch format := v.Get("format"); format {
	case "":
		q.lines = media == "application/json" || media == "application/jsonl"
	case "json":
		q.lines = true
	case "text":
	default:
		return q, fmt.Errorf("format: %q is neither text nor json", format)
	}
	return q, nil
}

// sendLogs writes lines, piece by piece, and waits for more if requested. A slow client receives the number of lines that were
// dropped before it could read them.
func (s *Subscriber) sendLogs(w http.ResponseWriter, r *http.Request, q logQuery) {
	logs := s.options.Logs
	changed, cancel := logs.Subscribe()
	defer cancel()
	from := q.after
	if q.tail >= 0 {
		start, ok := s.startOfTail(r.Context(), q.filter, q.tail)
		if !ok {
			return
		}
		from = max(from, start)
	}
	end := uint64(math.MaxUint64)
	a := answer{w: w, r: r}
	if q.follow {
		a.changed = func() <-chan struct{} { return changed }
	} else {
		end = logs.Newest()
	}
	cursor := logs.CursorAt(q.filter, from)
	a.make = func(piece *bytes.Buffer) bool {
		lines := cursor.Next(logChunk)
		more := len(lines) > 0
		if i := slices.IndexFunc(lines, func(l logstore.Line) bool { return l.Seq > end }); i >= 0 {
			lines, more = lines[:i], false
		}
		writeLines(piece, q, cursor.Skipped(), lines)
		return more
	}
	s.send(a)
	if q.follow && r.Context().Err() != nil {
		// The end of the session also ends the request: the client receives the lines up to then if it is still connected.
		var last bytes.Buffer
		a.make(&last)
		push(w, &last)
	}
}

// startOfTail returns the number of the line before the newest n, without holding all of them. ok is false if the request has
// ended.
func (s *Subscriber) startOfTail(ctx context.Context, f logstore.Filter, n int) (start uint64, ok bool) {
	logs := s.options.Logs
	before := logs.Newest() + 1
	start = before - 1
	for n > 0 {
		var lines []logstore.Line
		var err error
		if !s.work(ctx, func() { lines, err = logs.Search(ctx, f, before, min(n, logChunk), true) }) || err != nil {
			return 0, false
		}
		if len(lines) == 0 {
			return 0, true
		}
		n -= len(lines)
		before = lines[0].Seq
		start = before - 1
	}
	return start, true
}

func writeLines(b *bytes.Buffer, q logQuery, skipped uint64, lines []logstore.Line) {
	if q.lines {
		enc := json.NewEncoder(b)
		if skipped > 0 {
			_ = enc.Encode(api.LogLine{Skipped: skipped})
		}
		for _, l := range lines {
			_ = enc.Encode(snapshot.Line(l))
		}
		return
	}
	if skipped > 0 {
		fmt.Fprintf(b, "… %d lines were dropped\n", skipped)
	}
	for _, l := range lines {
		if l.ProgressID != "" && !l.ProgressDone {
			continue // only a screen can replace a line
		}
		if l.Resource != "" {
			b.WriteString(string(l.Resource))
			b.WriteString(" │ ")
		}
		b.WriteString(l.Prefix)
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
}
