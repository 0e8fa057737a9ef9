package screen

import (
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// hint is a verb in the footer, in the words of the place where the footer is.
type hint struct{ verb, says string }

// footers are the most important verbs of each place, in this order. Other verbs with a hint follow as far as there is room.
var footers = map[place][]hint{
	inTable: {{"details", "details"}, {"restore", "restore"}, {"accept", "accept"}, {"trigger", "trigger"}, {"next-error", "next error"}, {"restart", "restart"}, {"why", "why"}, {"filter", "filter"}, {"switch", "log"},
		{"all", "all/one"}, {"browser", "browser"}, {"enable-or-disable", "disable"}, {"find", "find"}, {"pause", "pause all"}},
	inLog: {{"find", "find"}, {"filter-log", "filter"}, {"level", "level"}, {"switch", "table"}, {"follow", "follow"}, {"editor", "editor"}, {"copy", "copy"}, {"open-line", "open"},
		{"all", "all/one"}, {"next-error", "next error"}, {"zoom", "zoom"}, {"size", "log size"}, {"pager", "pager"}, {"save", "save"}},
	inCard: {{"next-error", "next error"}, {"card-log", "full log"}, {"editor", "editor"}, {"card-details", "details"}, {"card-previous", "previous run"}, {"shell", "shell"},
		{"restart-pods", "new pods"}, {"trigger", "trigger"}, {"why", "why"}},
	inDetails: {{"open-detail", "open"}, {"restore", "restore"}, {"accept", "accept"}, {"next-tab", "tabs"}, {"trigger", "trigger"}, {"why", "why"}, {"next-error", "next error"}, {"editor", "editor"}, {"restart", "restart"},
		{"shell", "shell"}, {"browser", "browser"}},
	inWhy:       {{"open-detail", "open"}, {"why", "a file"}, {"trigger", "trigger"}, {"next-error", "next error"}, {"editor", "editor"}},
	inRevisions: {{"open-detail", "compare"}},
	inPending:   {{"confirm", "confirm"}, {"open-detail", "open"}, {"trigger", "trigger"}, {"pause", "pause all"}, {"why", "why"}},
}

// lasting reports whether a hint is always shown.
func lasting(v verb) bool { return v.hint == keysHint || v.hint == detachHint || v.hint == paletteHint }

// mostAsked bounds the marked resources whose possible verbs the footer computes. For more it names the usual verbs.
const mostAsked = 20

// useless reports whether a verb cannot be done now, so that the footer leaves it out.
func (u *ui) useless(v *verb) bool {
	return u.frame.built() && len(u.table.marked) <= mostAsked && u.refusal(v) != nil
}

// footer returns the verbs to name at a place, with their hints in order: those that can be done.
func (u *ui) footer(at place) []verb {
	var out []verb
	add := func(v verb, says string) {
		if now := u.hintNow(v.name); now != "" && says != "" {
			says = now
		}
		named := says == "" || slices.ContainsFunc(out, func(o verb) bool { return o.name == v.name })
		usable := v.worksIn(at) && v.hasKey()
		if named || !usable || u.useless(&v) {
			return
		}
		v.hint = says
		out = append(out, v)
	}
	for _, h := range footers[at] {
		if v := u.verb(h.verb); v != nil {
			add(*v, h.says)
		}
	}
	for _, v := range u.verbs {
		if !lasting(v) {
			add(v, v.hint)
		}
	}
	return out
}

// hintNow returns the present effect of a key that depends on the state; empty for a key that does not.
func (u *ui) hintNow(verb string) string {
	switch verb {
	case "pause":
		if u.frame.Session != nil && u.frame.Session().Paused {
			return "resume"
		}
	case "enable-or-disable":
		r := u.target()
		if r == nil || !u.frame.built() {
			return ""
		}
		if c, ok := u.frame.Controls(r.Name); ok && c.Disabled {
			return "enable"
		}
	}
	return ""
}

// shownHint is a hint as it is shown, and the verb that a click on it does.
type shownHint struct {
	cell view.Cell
	verb string
}

// hints returns the hints of the keys that work now, as many as fit whole. They always include the keys that show all keys and all
// commands, and the key that leaves an attached screen.
func (r *root) hints(width int) []shownHint {
	u := r.ui
	said := func(v verb) shownHint {
		return shownHint{view.Cell{{Text: v.label(), Tone: view.Strong}, {Text: " " + v.hint + "  ", Tone: view.Dim}}, v.name}
	}
	var hints, last []shownHint
	room, used := width, 0
	for _, v := range u.verbs {
		if lasting(v) {
			h := said(v)
			last = append(last, h)
			room -= h.cell.Width()
		}
	}
	add := func(h shownHint) {
		hints = append(hints, h)
		used += h.cell.Width()
	}
	note := func(head, tail string) {
		if left := room - used - text.Width(tail); left > 8 {
			add(shownHint{view.Cell{{Text: text.Cut(head, left) + tail, Tone: view.Warn}}, "back"})
		}
	}
	if u.table.query != "" && u.top() == u.main {
		said := "showing " + text.Cut(u.table.query, 20)
		if sum := view.Sum(u.table.rows).Verdicts(); sum != "" {
			said += ": " + sum
		}
		note(said, ", Esc shows all   ")
	}
	if n := len(u.table.marked); n > 0 && u.top() == u.main {
		note(fmt.Sprintf("%d marked", n), ", Esc unmarks   ")
	}
	for _, v := range u.footer(u.top().place()) {
		if h := said(v); used+h.cell.Width() <= room {
			add(h)
		}
	}
	return append(hints, last...)
}
