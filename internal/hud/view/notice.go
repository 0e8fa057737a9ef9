package view

import (
	"cmp"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/status"
)

// Notice is a problem that belongs to no row.
type Notice struct {
	// Text names the problem in a few words.
	Text string
	// Summary is the problem in full, Cause its cause, and Mend the way to fix it, which may be several lines. Each may be empty;
	// foreign text in them is cleaned for display.
	Summary, Cause, Mend string
	// Since is the start of the problem; zero if unknown.
	Since time.Time
	Tone  Tone
}

// noticeGap separates the parts of a notice in one line.
const noticeGap = "  "

// Span returns the notice in one line of any length.
func (n Notice) Span() Span { return Span{strings.Join(n.parts(), noticeGap), n.Tone} }

// parts returns the problem, its cause, and the beginning of its mend.
func (n Notice) parts() []string {
	out := []string{n.Text}
	for _, s := range []string{n.Cause, words.FirstLine(n.Mend)} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Line returns the notice in at most width columns: the problem, its cause, and its mend. The mend stays whole: the cause is cut
// first, in its middle, then the problem.
func (n Notice) Line(width int) Cell {
	mend := words.FirstLine(n.Mend)
	if sentence, _, more := strings.Cut(mend, ". "); more && n.Span().width() > width {
		mend = sentence + "."
	}
	room := width
	if mend != "" {
		room -= text.Width(mend) + len(noticeGap)
	}
	const least, leastHead = 16, 24 // fewer columns of the cause, or of the problem, tell nothing
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

// mends name the keys of the screen that help with a notice.
var mends = map[status.About]string{
	status.AboutPause:   "Z resumes, P shows what waits, t updates one resource",
	status.AboutPrune:   "X deletes them; or fix the Tiltfile",
	status.AboutConfirm: "P shows what would be done, and there y confirms it",
}

// notices returns the problems of the session as a whole, the worst first.
func (b *builder) notices() []Notice {
	var out []Notice
	for _, n := range status.Notices(b.v) {
		p := n.Problem
		if p.Detail != "" {
			p.Mend = strings.Trim(p.Mend+"\n\n"+p.Detail, "\n")
		}
		shown := Notice{Text: text.Clean(n.Text), Summary: firstLine(p.Summary), Cause: firstLine(p.Cause), Mend: cmp.Or(mends[n.About], cleanLines(p.Mend)),
			Since: n.Since, Tone: Warn}
		if n.Severe {
			shown.Tone = Bad
		}
		if n.About == status.AboutPause || n.About == status.AboutDeployLock {
			shown.Text += ", since " + clock(n.Since, b.now)
		}
		out = append(out, shown)
	}
	return out
}

// cleanLines cleans foreign text line by line.
func cleanLines(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, text.Clean(strings.TrimRight(line, "\r\n")))
	}
	return strings.Join(out, "\n")
}
