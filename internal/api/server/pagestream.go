package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// pagePause is the minimum time between two events of a stream of the page, logPause the minimum between two pieces
	// of news about logs.
	pagePause = 50 * time.Millisecond
	logPause  = 100 * time.Millisecond
)

// pageQuery is the query of a request for the page's stream.
type pageQuery struct {
	has    pageCursor
	detail string
	// log selects the resources whose logs are announced; nil announces none.
	log *logstore.Filter
	// once ends the answer after the parts that the client lacks now.
	once bool
}

func readPageQuery(r *http.Request) (q pageQuery, err error) {
	v := r.URL.Query()
	for key := range v {
		if !slices.Contains([]string{"since", "detail", "log", "follow"}, key) {
			return q, fmt.Errorf("parameter %q is not known", key)
		}
	}
	if f := v.Get("follow"); f != "" {
		follow, err := strconv.ParseBool(f)
		if err != nil {
			return q, fmt.Errorf("follow: %q is neither true nor false", f)
		}
		q.once = !follow
	}
	q.detail = v.Get("detail")
	q.has = readPageCursor(v.Get("since"))
	if id := r.Header.Get("Last-Event-ID"); id != "" { // a browser that reconnects by itself sends the old parameters with it
		q.has = readPageCursor(id)
	}
	q.log = loggedOf(v)
	return q, nil
}

// loggedOf returns the filter of parameter log.
func loggedOf(v url.Values) *logstore.Filter {
	names := listed(v["log"])
	if len(names) == 0 {
		return nil
	}
	f := &logstore.Filter{}
	if slices.Contains(names, "*") {
		return f
	}
	for _, n := range names {
		f.Resources = append(f.Resources, model.ManifestName(n))
	}
	return f
}

// page handles GET /api/page: a stream of the page's state and its changes. The next event is made after the client has read the one
// before it, from the newest snapshot, so that a slow client costs no memory and never holds the loop.
func (s *Subscriber) page(src *source, w http.ResponseWriter, r *http.Request) {
	q, err := readPageQuery(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	p := pageStream{s: s, src: src, query: q, first: true}
	var logged <-chan struct{}
	if q.log != nil && s.options.Logs != nil {
		changed, cancel := s.options.Logs.Subscribe()
		defer cancel()
		logged = changed
	}
	ctx := r.Context()
	var piece bytes.Buffer
	var quiet time.Time // until when lines are not announced
	for {
		changed := src.Changed() // before looking, so that nothing is missed
		if !s.work(ctx, func() { p.write(&piece) }) || piece.Len() > 0 && !push(w, &piece) {
			return
		}
		if q.once || !retry.Sleep(ctx, pagePause) {
			return
		}
		access.Endless(w)
		lines := logged
		for woken := false; !woken; {
			select {
			case <-ctx.Done():
				return
			case <-changed:
				woken = true
			case <-lines:
				if !retry.Sleep(ctx, time.Until(quiet)) {
					return
				}
				quiet, woken = time.Now().Add(logPause), true
			}
		}
	}
}

// pageStream is one client's stream.
type pageStream struct {
	s     *Subscriber
	src   *source
	query pageQuery
	// first is set until the first event is written.
	first bool
	// detail and lines are the detail and the number of lines that were sent last.
	detail json.RawMessage
	lines  uint64
	seq    uint64 // of the snapshot with the detail
}

// write adds the events that the client lacks.
func (p *pageStream) write(b *bytes.Buffer) {
	v := p.src.View()
	redactor := p.src.Redactor(v)
	p.s.feed.take(v, p.s.options.Version, p.s.pastOf(), redactor)
	doc, now, news := p.s.feed.since(p.query.has)
	if p.query.detail != "" && (p.first || v.Seq != p.seq) {
		if d := detailDoc(v, p.query.detail, redactor); p.first || !bytes.Equal(d, p.detail) {
			p.detail, doc.Detail, news = d, d, true
		}
		p.seq = v.Seq
	}
	if news {
		doc.Now = p.s.now()
		event(b, now.String(), "page", doc)
	}
	p.first, p.query.has = false, now
	if p.query.log == nil || p.s.options.Logs == nil {
		return
	}
	if n := uint64(p.s.options.Logs.Count(*p.query.log)) + p.s.options.Logs.Dropped(*p.query.log); n != p.lines {
		p.lines = n
		event(b, "", "log", api.LogNews{Lines: n})
	}
}

// event adds a server-sent event.
func event(b *bytes.Buffer, id, kind string, doc any) {
	text, err := json.Marshal(doc)
	if err != nil {
		return // no type of the page can fail
	}
	if id != "" {
		fmt.Fprintf(b, "id: %s\n", strings.Map(oneLine, id))
	}
	fmt.Fprintf(b, "event: %s\ndata: %s\n\n", kind, text)
}

// oneLine keeps a text from ending its line.
func oneLine(r rune) rune {
	if r == '\n' || r == '\r' {
		return -1
	}
	return r
}
