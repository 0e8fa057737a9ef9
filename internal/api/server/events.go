package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
)

// eventChunk is the most events that a request holds at a time.
const eventChunk = 256

// eventQuery is the query of a request for events.
type eventQuery struct {
	cursor events.Cursor
	follow bool
}

// events handles GET /api/events. It responds with one object per line.
func (s *Subscriber) events(src *source, w http.ResponseWriter, r *http.Request) {
	q, err := readEventQuery(r.URL.Query(), time.Now())
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if s.past != nil {
		w.Header().Set("Content-Type", "application/jsonl")
		s.pastEvents(w, q)
		return
	}
	if newest := state.NewestEvent(src.View()); q.cursor.After > newest {
		fail(w, http.StatusGone, fmt.Sprintf("since: this session has had %d events; event %d must be from another session", newest, q.cursor.After))
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		s.sendEvents(src, w, r, q)
	}
}

func readEventQuery(v url.Values, now time.Time) (q eventQuery, err error) {
	for key := range v {
		if !slices.Contains([]string{"since", "resource", "type", "follow"}, key) {
			return q, fmt.Errorf("parameter %q is not known", key)
		}
	}
	if f := v.Get("follow"); f != "" {
		if q.follow, err = strconv.ParseBool(f); err != nil {
			return q, fmt.Errorf("follow: %q is neither true nor false", f)
		}
	}
	q.cursor.Filter.Resources = listed(v["resource"])
	q.cursor.Filter.Types = listed(v["type"])
	for _, t := range q.cursor.Filter.Types {
		if !events.Known(t) {
			return q, fmt.Errorf("type: %q is none of %s", t, typeNames())
		}
	}
	since := v.Get("since")
	if since == "" {
		return q, nil
	}
	if q.cursor.After, err = strconv.ParseUint(since, 10, 64); err == nil {
		return q, nil
	}
	if q.cursor.Filter.Since, err = logquery.Since(since, now); err != nil {
		return q, fmt.Errorf("%w, nor the number of an event", err)
	}
	return q, nil
}

// listed returns the values of a parameter that may be repeated and may contain lists with commas.
func listed(values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, strings.Split(v, ",")...)
	}
	return out
}

func typeNames() string {
	var names []string
	for _, t := range api.EventTypes {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// sendEvents writes events, piece by piece, and waits for more if requested. A client that reads slowly receives a gap for
// events that were dropped meanwhile.
func (s *Subscriber) sendEvents(src *source, w http.ResponseWriter, r *http.Request, q eventQuery) {
	a := answer{w: w, r: r}
	end := uint64(math.MaxUint64)
	if q.follow {
		a.changed = src.Changed
	} else {
		end = state.NewestEvent(src.View())
	}
	a.make = func(piece *bytes.Buffer) bool {
		next, more := q.cursor.Next(src.View(), eventChunk)
		if i := slices.IndexFunc(next, func(e api.Event) bool { return e.Seq > end }); i >= 0 {
			next, more = next[:i], false
		}
		writeEvents(piece, src, next)
		return more
	}
	s.send(a)
	if !q.follow {
		return
	}
	// The end of the session also ends the request: the client receives the last events if it is still connected.
	var last bytes.Buffer
	a.make(&last)
	push(w, &last)
}

func writeEvents(b *bytes.Buffer, src *source, list []api.Event) {
	redactor := src.Redactor(src.View())
	for _, e := range list {
		line, err := json.Marshal(e)
		if err != nil {
			continue // no type of the schema can fail
		}
		b.Write(redactor.JSON(line))
		b.WriteByte('\n')
	}
}
