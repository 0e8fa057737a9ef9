package view

import (
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Notice is a problem that belongs to no row.
type Notice struct {
	// Text says in a few words what is wrong.
	Text string
	// Summary is what is wrong in full, Cause why, Mend how to fix it, which may be several lines. Each may be empty; foreign
	// text in them is cleaned for display.
	Summary, Cause, Mend string
	// Since is when it began; zero if unknown.
	Since time.Time
	Tone  Tone
}

// noticeGap separates the parts of a notice in one line.
const noticeGap = "  "

// Span returns the notice in one line of any length.
func (n Notice) Span() Span { return Span{strings.Join(n.parts(), noticeGap), n.Tone} }

// parts returns what is wrong, why, and the beginning of how to fix it.
func (n Notice) parts() []string {
	out := []string{n.Text}
	for _, s := range []string{n.Cause, words.FirstLine(n.Mend)} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Line returns the notice in at most width columns: what is wrong, why, and how to fix it. The fix is what stays: the cause
// is cut first, in its middle, then what is wrong.
func (n Notice) Line(width int) Cell {
	mend := words.FirstLine(n.Mend)
	if sentence, _, more := strings.Cut(mend, ". "); more && n.Span().width() > width {
		mend = sentence + "."
	}
	room := width
	if mend != "" {
		room -= text.Width(mend) + len(noticeGap)
	}
	const least, leastHead = 16, 24 // fewer columns of the cause, or of what is wrong, say nothing
	head := text.Cut(n.Text, max(room, leastHead, width/3))
	room -= text.Width(head)
	out := Cell{{head, n.Tone}}
	if cause := min(room-len(noticeGap), text.Width(n.Cause)); n.Cause != "" && cause >= min(least, text.Width(n.Cause)) {
		out = append(out, Span{noticeGap + text.CutMiddle(n.Cause, cause), n.Tone})
	}
	if mend != "" {
		out = append(out, Span{noticeGap + mend, Plain})
	}
	return out.Fit(width)
}

func (s Span) width() int { return text.Width(s.Text) }

// Whole returns all of the notice, in lines of any length.
func (n Notice) Whole() []Cell {
	var out []Cell
	add := func(s string, tone Tone) {
		for line := range strings.Lines(s) {
			out = append(out, Cell{{strings.TrimRight(line, "\n"), tone}})
		}
	}
	summary := n.Summary
	if summary == "" {
		summary = n.Text
	}
	add(summary, n.Tone)
	add(n.Cause, Plain)
	if !n.Since.IsZero() {
		add("since "+n.Since.Format(time.TimeOnly), Dim)
	}
	if n.Mend != "" {
		out = append(out, Cell{})
		add(n.Mend, Plain)
	}
	return out
}

// noticeOf returns the notice of a problem.
func noticeOf(short string, p state.Problem, since time.Time, tone Tone) Notice {
	if p.Detail != "" {
		p.Mend = strings.Trim(p.Mend+"\n\n"+p.Detail, "\n")
	}
	return Notice{Text: text.Clean(short), Summary: firstLine(p.Summary), Cause: firstLine(p.Cause), Mend: cleanLines(p.Mend), Since: since, Tone: tone}
}

// problemIn splits a problem in text form, as problem.Text writes it, into what is wrong and the rest.
func problemIn(s string) state.Problem {
	summary, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	var mend []string
	for line := range strings.Lines(rest) {
		mend = append(mend, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return state.Problem{Summary: summary, Mend: strings.Join(mend, "\n")}
}

// cleanLines cleans foreign text line by line.
func cleanLines(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, text.Clean(strings.TrimRight(line, "\r\n")))
	}
	return strings.Join(out, "\n")
}

// notices returns the problems of the session as a whole, the worst first.
func (b *builder) notices() []Notice {
	var out []Notice
	// stated adds a problem whose own summary says what is wrong.
	stated := func(s string, since time.Time, tone Tone) {
		p := problemIn(s)
		out = append(out, noticeOf(p.Summary, p, since, tone))
	}
	if e := b.session.Ended; e != nil && e.Failure != "" {
		stated(e.Failure, e.At, Bad)
	}
	if c := state.TheCluster(b.v); c.Err != "" && !c.Connected && state.NeedsCluster(b.v) {
		out = append(out, away("cluster "+c.Context, c.Err, c.Problem, c.Lost))
	}
	if e := state.TheEngine(b.v); e.Err != "" && !e.Connected && state.NeedsEngine(b.v) {
		out = append(out, away("container engine", e.Err, e.Problem, e.Lost))
	}
	for e := range state.Subscribers.In(b.v).Entries() {
		if e.Value.State == store.SubscriberBackingOff {
			stated("hone's "+e.ID+" failed and is being restarted: "+e.Value.Err, e.Updated, Bad)
		}
	}
	if b.session.Paused() {
		out = append(out, b.pausedNotice())
	}
	if why := b.session.Brake.Why; why != "" {
		out = append(out, Notice{Text: why, Mend: "X deletes them; or fix the Tiltfile", Tone: Warn})
	}
	if waits := intent.UnconfirmedText(b.v); waits != "" {
		out = append(out, Notice{Text: waits, Mend: "P shows what would be done, and there y confirms it", Tone: Warn})
	}
	for _, t := range b.session.Turns {
		out = append(out, Notice{Text: t.By + " deploys this project since " + clock(t.Since, b.now) + ": updates wait until it has ended", Since: t.Since, Tone: Warn})
	}
	if w := state.Watches.In(b.v).Value(state.Only); w.Problem != "" {
		stated(w.Problem, time.Time{}, Warn)
	}
	return out
}

// away returns the notice about something that does not answer, whose problem is known as text at least.
func away(what, err string, p state.Problem, since time.Time) Notice {
	if p.Summary == "" {
		if p = problemIn(err); p.Cause == "" {
			p.Cause = p.Summary
		}
	}
	return noticeOf(strings.TrimSpace(what)+" does not answer", p, since, Bad)
}
