package screen

import (
	"fmt"
	"math"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/pkg/model"
)

// finder finds text in the log without hiding other lines. Its matches are a list of their own, which is built while the user
// continues.
type finder struct {
	found   logquery.Query
	matches *loglist.List
	// wanted is the direction of a step whose match was not found yet; zero if none is pending. origin is its start.
	wanted int
	origin uint64
	either bool // the step may turn around: it is the first one
}

// find begins a new search from the user's position; empty terms end the search.
func (p *logPane) find(terms logquery.Query) {
	p.stopFinding()
	p.found = terms
	if terms.Empty() {
		return
	}
	p.read()
	p.wanted, p.either = 1, true
	p.origin = p.here()
	if p.follow {
		p.wanted = -1
	}
	p.matches = p.lists.Open(p.query().And(terms), p.origin)
	p.finder.settle(p)
}

// finding is the user's position in the log before a search.
type finding struct {
	found  logquery.Query
	follow bool
	top    spot
	cursor uint64
}

// resume goes back to the user's position before the search.
func (p *logPane) resume(f finding) {
	p.follow, p.cursor = f.follow, f.cursor
	if !f.follow {
		p.top = f.top
	}
	p.read()
}

// askFind asks for a text, and goes to the nearest match after each letter. Esc goes back to the position before the search.
func (u *ui) askFind() {
	p := u.log
	before := finding{p.found, p.follow, p.top, p.cursor}
	seek := func(s string) error {
		terms, err := logquery.Pattern(s)
		if err != nil {
			return err
		}
		p.resume(before) // each letter searches from the same position
		p.find(terms)
		return nil
	}
	p.quiet = true
	u.ask("find in log: ", "", seek, func(s string, ok bool) {
		p.quiet = false
		if !ok {
			p.resume(before)
			p.find(before.found)
			p.wanted = 0
			return
		}
		if err := seek(s); err != nil {
			u.say(err.Error())
		}
	})
}

// here is the user's position in the log: the item with the cursor, or the first row.
func (p *logPane) here() uint64 {
	switch {
	case p.follow:
		return math.MaxUint64
	case p.cursor != 0:
		return p.cursor
	case len(p.rows) > 0:
		return p.rows[0].item.First
	}
	return math.MaxUint64
}

func (p *logPane) stopFinding() {
	if p.matches != nil {
		p.matches.Close()
	}
	p.finder = finder{}
}

// refind continues the search in other lines.
func (p *logPane) refind(q loglist.Query) {
	if p.matches == nil {
		return
	}
	p.matches.Close()
	p.matches, p.wanted = p.lists.Open(q.And(p.found), p.here()), 0
}

// step goes to the next or the previous match.
func (p *logPane) step(back bool) {
	p.read()
	p.wanted, p.either, p.origin = 1, false, p.here()
	if back {
		p.wanted = -1
	}
	p.finder.settle(p)
}

// settle goes to the match of the pending step once it is known.
func (f *finder) settle(p *logPane) {
	if f.wanted == 0 || f.matches == nil {
		return
	}
	seq, known := f.match(f.wanted)
	if known && seq == 0 && f.either {
		seq, known = f.match(-f.wanted)
	}
	if !known {
		return
	}
	wanted := f.wanted
	f.wanted = 0
	if seq != 0 {
		p.reveal(seq)
		return
	}
	switch {
	case p.quiet:
	case f.matches.Len() == 0:
		p.message = fmt.Sprintf("%q is not in this log", f.found.Text)
	case wanted < 0:
		p.message = fmt.Sprintf("%q: this is the first match", f.found.Text)
	default:
		p.message = fmt.Sprintf("%q: this is the last match", f.found.Text)
	}
}

// match returns the nearest match in a direction, zero if there is none. known is false while that part of the log was not
// looked at.
func (f *finder) match(direction int) (seq uint64, known bool) {
	near := func() (seq uint64) {
		var lines []logstore.Line
		if direction < 0 {
			lines = f.matches.Before(f.origin, 1)
		} else if f.origin < math.MaxUint64 {
			lines = f.matches.After(f.origin, 1)
		}
		if len(lines) > 0 {
			seq = lines[0].Seq
		}
		return seq
	}
	seq = near()
	from, to := f.origin, seq
	switch {
	case direction < 0:
		from, to = seq, f.origin
	case seq == 0:
		to = math.MaxUint64
	}
	if !f.matches.Reaches(from, to) {
		return 0, false
	}
	return near(), true // once more: the search may have continued in between
}

// findState describes the user's position among the matches, and the part of the log that was looked at: "3 of 120", "12 so far,
// 40 %".
func (p *logPane) findState() string {
	n := p.matches.Len()
	if looked := p.matches.Looked(); looked < 1 {
		return fmt.Sprintf("%s so far, %d %%", grouped(n), int(looked*100))
	}
	if p.cursor != 0 {
		if it := p.item(); it != nil {
			if below, ok := p.matches.Rank(it.Last() + 1); ok && below > 0 {
				if own := p.matches.Before(it.Last()+1, 1); len(own) > 0 && own[0].Seq >= it.First {
					return fmt.Sprintf("%s of %s", grouped(below), grouped(n))
				}
			}
		}
	}
	return fmt.Sprintf("%s %s", grouped(n), map[bool]string{true: "match", false: "matches"}[n == 1])
}

// updates returns the spans of the updates of the resources whose log is shown.
func (p *logPane) updates() []logstore.SpanInfo {
	var out []logstore.SpanInfo
	names := p.subject.names
	if names == nil {
		names = p.resources
	}
	for _, name := range names {
		for _, span := range p.logs.Spans(name) {
			if isUpdate(span.Name, name) {
				out = append(out, span)
			}
		}
	}
	return out
}

// isUpdate reports whether a span belongs to an update.
func isUpdate(span string, name model.ManifestName) bool {
	prefix := "build:" + string(name) + ":"
	return len(span) > len(prefix) && span[:len(prefix)] == prefix
}
