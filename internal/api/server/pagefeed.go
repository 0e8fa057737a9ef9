package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/api/page"
	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// mostGone bounds how many removed resources a feed remembers, for clients that resume.
const mostGone = 1000

// pageFeed is the content of the web page, in JSON, with the revision at which each part last changed. All streams share it, so
// that a snapshot is projected once however many pages are open. A client at a revision lacks the parts that have changed since: a
// slow client gets larger differences, and nothing is kept for it. The zero value is empty. Its methods may be called from any
// goroutine.
type pageFeed struct {
	mu sync.Mutex
	// run is the run of the session, seq the newest snapshot that was projected.
	run string
	seq uint64
	// revision counts the changes of the feed.
	revision uint64
	session  part
	order    part
	rows     map[string]part
	// gone holds when resources were removed; forgotten is the revision up to which removals may be missing.
	gone      map[string]uint64
	forgotten uint64
}

// part is a part of the feed.
type part struct {
	doc     json.RawMessage
	changed uint64
}

// pageCursor is the state of a client: it has all that a run's feed had at a revision. The zero value is a client that has
// nothing.
type pageCursor struct {
	run      string
	revision uint64
}

// String returns the ID of the event.
func (c pageCursor) String() string { return fmt.Sprintf("%s.%d", c.run, c.revision) }

// readPageCursor is the inverse of String; anything else is a client that has nothing.
func readPageCursor(id string) pageCursor {
	i := strings.LastIndexByte(id, '.')
	if i < 0 {
		return pageCursor{}
	}
	n, err := strconv.ParseUint(id[i+1:], 10, 64)
	if err != nil {
		return pageCursor{}
	}
	return pageCursor{id[:i], n}
}

// take brings the feed up to date with a snapshot. Older snapshots change nothing.
func (f *pageFeed) take(v store.View, version string, past *api.PagePast, redactor *redact.Redactor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows != nil && v.Seq <= f.seq {
		return
	}
	if f.rows == nil {
		f.rows, f.gone = map[string]part{}, map[string]uint64{}
	}
	f.seq, f.run = v.Seq, state.TheSession(v).RunID
	next := f.revision + 1
	changed := false
	put := func(was part, doc any) part {
		text, err := json.Marshal(doc)
		if err != nil {
			return was // no type of the page can fail
		}
		if text = redactor.JSON(text); bytes.Equal(text, was.doc) {
			return was
		}
		changed = true
		return part{text, next}
	}
	session := page.Session(v, version)
	session.Past = past
	f.session = put(f.session, session)
	rows := page.Rows(v)
	names := make([]string, len(rows))
	there := make(map[string]bool, len(rows))
	for i, r := range rows {
		names[i], there[r.Name] = r.Name, true
		f.rows[r.Name] = put(f.rows[r.Name], r)
		delete(f.gone, r.Name)
	}
	f.order = put(f.order, names)
	for name := range f.rows {
		if !there[name] {
			delete(f.rows, name)
			f.gone[name], changed = next, true
		}
	}
	if len(f.gone) > mostGone {
		clear(f.gone)
		f.forgotten = next
	}
	if changed {
		f.revision = next
	}
}

// pageDoc is api.Page with its parts in JSON.
type pageDoc struct {
	Whole     bool              `json:"whole,omitempty"`
	Now       time.Time         `json:"now"`
	Session   json.RawMessage   `json:"session,omitempty"`
	Order     json.RawMessage   `json:"order,omitempty"`
	Resources []json.RawMessage `json:"resources,omitempty"`
	Removed   []string          `json:"removed,omitempty"`
	Detail    json.RawMessage   `json:"detail,omitempty"`
}

// since returns the parts that a client lacks, its cursor once it has them, and whether it lacks any.
func (f *pageFeed) since(has pageCursor) (doc pageDoc, now pageCursor, news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now = pageCursor{f.run, f.revision}
	oldest := max(1, f.forgotten)
	known := oldest <= has.revision && has.revision <= f.revision
	if !known || has.run != f.run {
		has, doc.Whole = pageCursor{}, true
	}
	if has.revision == f.revision && !doc.Whole {
		return doc, now, false
	}
	if f.session.changed > has.revision {
		doc.Session = f.session.doc
	}
	if f.order.changed > has.revision {
		doc.Order = f.order.doc
	}
	var names []string
	for name, p := range f.rows {
		if p.changed > has.revision {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		doc.Resources = append(doc.Resources, f.rows[name].doc)
	}
	if !doc.Whole {
		for name, at := range f.gone {
			if at > has.revision {
				doc.Removed = append(doc.Removed, name)
			}
		}
		slices.Sort(doc.Removed)
	}
	return doc, now, true
}

// detailDoc returns the details of a resource in JSON; nil if it does not exist.
func detailDoc(v store.View, name string, redactor *redact.Redactor) json.RawMessage {
	d, ok := page.Detail(v, name)
	if !ok {
		return nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil // no type of the page can fail
	}
	return redactor.JSON(text)
}
