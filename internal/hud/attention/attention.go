// Package attention decides which news a screen gives a user who looks elsewhere: the title of the terminal, the progress on the
// taskbar, a message on the desktop. It is pure: time comes in with the view.
package attention

import (
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// LongUpdate is the least duration of an update whose end is worth a message.
	LongUpdate = 10 * time.Second
	// Pause is the time between two messages. One message sums up the events between.
	Pause = 5 * time.Second
	// Visible is the least duration of an update that is seen in title and progress, which would flicker otherwise.
	Visible = time.Second
	// Recovered is the least time without a failure after which the next one is news while the user is away.
	Recovered = time.Minute
	// longest bounds the text of a message, in columns.
	longest = 160
)

// Progress is the progress that the taskbar shows.
type Progress uint8

// The kinds of progress.
const (
	NoProgress Progress = iota
	Working
	Failing
)

// Said is the news.
type Said struct {
	Title    string
	Progress Progress
	// Message is for the desktop; empty for none.
	Message string
}

// Watch remembers the events and the news so far. The zero value has seen nothing. It is for one goroutine.
type Watch struct {
	rows map[model.ManifestName]past
	// failed and ended are events that no message has reported yet.
	failed, ended []string
	told          time.Time // the last message
}

// past is the history of a resource, as far as it matters here.
type past struct {
	// settled is its last status that an update or a start does not change by itself; since is the time of its change to this status.
	settled view.Status
	since   time.Time
	// began is the start of the update that is under way. It stays while the resource waits or is unknown after it; zero if there is
	// none.
	began time.Time
	// known is set if its failure was reported, and the user has not been here since.
	known bool
}

// Look returns the news about a view. Messages are for a user who is away; nothing that happened before the
// first look, or while the user was here, becomes one.
func (w *Watch) Look(v view.View, away bool, now time.Time) Said {
	if !away {
		w.failed, w.ended = nil, nil
	}
	rows := make(map[model.ManifestName]past, len(v.Rows))
	working, visible := false, 0
	for _, r := range v.Rows {
		p, seen := w.rows[r.Name]
		p = w.see(p, seen, r, away && !v.Header.Ending, now)
		rows[r.Name] = p
		if r.Status == view.Updating {
			working = true
			if now.Sub(p.began) >= Visible {
				visible++
			}
		}
	}
	w.rows = rows
	return Said{Title: title(v, visible), Progress: progress(v, visible), Message: w.message(working, now)}
}

// see takes in the row of a resource.
func (w *Watch) see(p past, seen bool, r view.Row, away bool, now time.Time) past {
	if !away {
		p.known = false
	}
	switch r.Status {
	case view.Updating:
		if p.began.IsZero() {
			p.began = now
		}
		return p
	case view.Waiting, view.Unknown: // its end is yet to come
		if !seen {
			p.settled, p.since = r.Status, now
		}
		return p
	case view.Well, view.Warning, view.Failed, view.Idle:
	}
	well, wasWell := isWell(r.Status), isWell(p.settled)
	took := time.Duration(0)
	if !p.began.IsZero() {
		took = now.Sub(p.began)
	}
	awaited := took >= LongUpdate // the user has turned to something else meanwhile
	if wasWell && now.Sub(p.since) >= Recovered {
		p.known = false
	}
	if seen && away {
		switch {
		case r.Status == view.Failed && !p.known:
			if !wasWell && !awaited {
				break
			}
			w.failed = append(w.failed, "✖ "+string(r.Name)+": "+strings.TrimSpace(r.Important().String()))
			p.known = true
		case well && awaited:
			w.ended = append(w.ended, "✔ "+string(r.Name)+" is ready ("+view.Duration(took.Round(time.Second))+")")
		}
	}
	stays := p.settled == r.Status || well && wasWell
	if !seen || !stays {
		p.since = now
	}
	p.settled, p.began = r.Status, time.Time{}
	return p
}

// isWell reports whether a resource with a status works.
func isWell(s view.Status) bool { return s == view.Well || s == view.Warning }

// message returns the next message; empty if there is none now. A failure is reported at once, the end of an update only when no
// other update is running.
func (w *Watch) message(working bool, now time.Time) string {
	if w.wait(now) > 0 {
		return ""
	}
	events := w.failed
	if !working {
		events = append(events[:len(events):len(events)], w.ended...)
		w.ended = nil
	}
	w.failed = nil
	if len(events) == 0 {
		return ""
	}
	w.told = now
	more := ""
	if n := len(events) - 1; n > 0 {
		more = fmt.Sprintf(", %d more", n)
	}
	return text.Cut(text.Clean(events[0]), longest-len(more)) + more
}

func (w *Watch) wait(now time.Time) time.Duration {
	if w.told.IsZero() {
		return 0
	}
	return Pause - now.Sub(w.told)
}

// Due returns the time after which Look may have news even if nothing happens; ok is false if it will not.
func (w *Watch) Due(now time.Time) (d time.Duration, ok bool) {
	if len(w.failed)+len(w.ended) == 0 {
		return 0, false
	}
	d = w.wait(now)
	return d, d > 0
}

// title returns the title of the terminal: the state of the session, and its name.
func title(v view.View, updating int) string {
	if v.Header.Project == "" {
		return "hone"
	}
	how := "✔"
	switch n := v.Header.Counts; {
	case n.Failed > 0:
		how = fmt.Sprintf("✖ %d", n.Failed)
	case updating > 0:
		how = fmt.Sprintf("● %d", updating)
	case n.Unknown > 0:
		how = fmt.Sprintf("? %d", n.Unknown)
	case n.Waiting+n.Updating > 0 || n.Well == 0:
		how = "◌"
	}
	name := v.Header.Project
	if v.Header.Box != "" {
		name += " on " + v.Header.Box
	}
	return text.Clean(how + " " + name + " – hone")
}

func progress(v view.View, updating int) Progress {
	switch {
	case updating > 0:
		return Working
	case v.Header.Counts.Failed > 0:
		return Failing
	}
	return NoProgress
}
