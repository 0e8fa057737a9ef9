package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/server/door"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// logChunk is how many lines of a log a request holds at a time.
const logChunk = 512

// logQuery is what a request for logs asks for.
type logQuery struct {
	filter logstore.Filter
	// tail is how many of the newest lines are wanted, negative for all.
	tail int
	// after is the number of the line to go on from.
	after  uint64
	follow bool
	// lines wants JSON lines.
	lines bool
}

// logs answers GET /api/logs.
func (s *Subscriber) logs(w http.ResponseWriter, r *http.Request) {
	if s.options.Logs == nil {
		fail(w, http.StatusNotFound, "this session keeps no logs")
		return
	}
	q, err := readLogQuery(r.URL.Query(), r.Header.Get("Accept"), time.Now())
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", map[bool]string{true: "application/jsonl", false: "text/plain; charset=utf-8"}[q.lines])
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	s.sendLogs(w, r, q)
}

func readLogQuery(v url.Values, accept string, now time.Time) (q logQuery, err error) {
	q.tail = -1
	for key := range v {
		if !slices.Contains([]string{"follow", "since", "tail", "level", "source", "resource", "span", "after", "format"}, key) {
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
			return q, fmt.Errorf("tail: %q is no number of lines", t)
		}
	}
	if a := v.Get("after"); a != "" {
		if q.after, err = strconv.ParseUint(a, 10, 64); err != nil {
			return q, fmt.Errorf("after: %q is no number of a line", a)
		}
	}
	if q.filter, err = logFilter(v, now); err != nil {
		return q, err
	}
	media, _, _ := mime.ParseMediaType(accept)
	switch format := v.Get("format"); {
	case format == "json" || format == "" && (media == "application/json" || media == "application/jsonl"):
		q.lines = true
	case format != "" && format != "text":
		return q, fmt.Errorf("format: %q is neither text nor json", format)
	}
	return q, nil
}

func logFilter(v url.Values, now time.Time) (f logstore.Filter, err error) {
	for _, list := range v["resource"] {
		for name := range strings.SplitSeq(list, ",") {
			f.Resources = append(f.Resources, model.ManifestName(name))
		}
	}
	f.Span = v.Get("span")
	switch level := v.Get("level"); level {
	case "", "all", "debug", "info":
		if level == "info" {
			f.MinLevel = logstore.LevelInfo
		}
	case "warn":
		f.MinLevel = logstore.LevelWarn
	case "error":
		f.MinLevel = logstore.LevelError
	default:
		return f, fmt.Errorf("level: %q is none of debug, info, warn, error", level)
	}
	switch source := v.Get("source"); source {
	case "", "all":
	case "build":
		f.Sources = []logstore.Source{logstore.SourceBuild}
	case "runtime":
		f.Sources = []logstore.Source{logstore.SourceRuntime}
	default:
		return f, fmt.Errorf("source: %q is none of all, build, runtime", source)
	}
	if since := v.Get("since"); since != "" {
		if f.Since, err = sinceTime(since, now); err != nil {
			return f, err
		}
	}
	return f, nil
}

// sinceTime reads a time, or how long ago it was.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 { // beyond that nanoseconds do not reach
		return t, fmt.Errorf("since: %q is neither a duration such as 5m nor a time such as %s", text, now.UTC().Format(time.RFC3339))
	}
	return t, nil
}

// sendLogs writes lines, piece by piece, and waits for more where that is wanted. A client that reads slowly is given its
// lines when it takes them; those that were dropped meanwhile are counted for it.
func (s *Subscriber) sendLogs(w http.ResponseWriter, r *http.Request, q logQuery) {
	logs := s.options.Logs
	changed, cancel := logs.Subscribe()
	defer cancel()
	from := q.after
	if q.tail >= 0 {
		from = max(from, startOfTail(r.Context(), logs, q.filter, q.tail))
	}
	end := uint64(math.MaxUint64)
	if !q.follow {
		end = logs.Newest()
	}
	cursor := logs.CursorAt(q.filter, from)
	flush := http.NewResponseController(w).Flush
	for r.Context().Err() == nil {
		lines := cursor.Next(logChunk)
		more := len(lines) == logChunk
		if i := slices.IndexFunc(lines, func(l logstore.Line) bool { return l.Seq > end }); i >= 0 {
			lines, more = lines[:i], false
		}
		door.Extend(w)
		if !writeLines(w, q, cursor.Skipped(), lines) || flush() != nil {
			return
		}
		switch {
		case more:
		case !q.follow:
			return
		default:
			door.Endless(w)
			select {
			case <-changed:
			case <-r.Context().Done():
			}
		}
	}
}

// startOfTail returns the number of the line before the newest n, without holding all of them.
func startOfTail(ctx context.Context, logs *logstore.Store, f logstore.Filter, n int) uint64 {
	before := logs.Newest() + 1
	start := before - 1
	for n > 0 {
		lines, err := logs.Search(ctx, f, before, min(n, logChunk), true)
		if err != nil || len(lines) == 0 {
			if err == nil {
				start = 0
			}
			return start
		}
		n -= len(lines)
		before = lines[0].Seq
		start = before - 1
	}
	return start
}

// writeLines reports whether the client took them.
func writeLines(w http.ResponseWriter, q logQuery, skipped uint64, lines []logstore.Line) bool {
	b := bufio.NewWriterSize(w, 32<<10)
	if q.lines {
		enc := json.NewEncoder(b)
		if skipped > 0 {
			_ = enc.Encode(api.LogLine{Skipped: skipped})
		}
		for _, l := range lines {
			_ = enc.Encode(logLine(l))
		}
		return b.Flush() == nil
	}
	if skipped > 0 {
		fmt.Fprintf(b, "… %d lines were dropped\n", skipped)
	}
	for _, l := range lines {
		if l.ProgressID != "" && !l.ProgressDone {
			continue // only a screen can replace a line
		}
		if l.Resource != "" {
			_, _ = b.WriteString(string(l.Resource) + " │ ")
		}
		_, _ = b.WriteString(l.Prefix + l.Text + "\n")
	}
	return b.Flush() == nil
}

func logLine(l logstore.Line) api.LogLine {
	return api.LogLine{Seq: l.Seq, Time: l.Time, Resource: string(l.Resource), Span: l.Span, Source: string(l.Source), Level: l.Level.String(),
		Prefix: l.Prefix, Text: l.Text, ProgressID: l.ProgressID, ProgressDone: l.ProgressDone}
}
