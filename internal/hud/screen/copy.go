package screen

import (
	"context"
	"math"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
)

// mostCopied bounds what is copied, in bytes: terminals drop longer texts, or hang.
const mostCopied = 1 << 20

// copyLines copies the selected lines, or the line with the cursor.
func (u *ui) copyLines() {
	p := u.log
	from, to := p.selection()
	if from == 0 {
		it := p.item()
		if it == nil {
			u.say("there is no line to copy")
			return
		}
		from, to = it.First, it.First
	}
	var lines []logstore.Line
	size, whole := 0, true
	for at := from; at <= to; {
		items := p.list.ItemsAfter(at-1, 200, loglist.Fold{})
		if len(items) == 0 {
			break
		}
		for _, it := range items {
			if it.First > to || size > mostCopied {
				whole = whole && size <= mostCopied
				items = nil
				break
			}
			for _, l := range it.Lines {
				lines = append(lines, l)
				size += len(l.Text) + 1
			}
			at = it.Last() + 1
		}
		if items == nil {
			break
		}
	}
	p.anchor = 0
	u.copy(plainLines(lines), countOf(len(lines)), whole)
}

// copyShown copies all lines that the filter shows, the newest if they are too many.
func (u *ui) copyShown() {
	var parts []string
	size, n := 0, 0
	whole := true
	for before := uint64(math.MaxUint64); ; {
		lines := u.log.list.Before(before, 1000)
		if len(lines) == 0 {
			break
		}
		before = lines[0].Seq
		part := plainLines(lines)
		if size += len(part); size > mostCopied {
			whole = false
			break
		}
		n += len(lines)
		parts = append([]string{part}, parts...)
	}
	u.copy(strings.Join(parts, ""), countOf(n), whole)
}

// countOf is a number of lines in a message.
func countOf(n int) string { return grouped(n) + " " + lines(n) }

// copy puts a text into the clipboard. what says what it is, and whole is false if there would be more.
func (u *ui) copy(s, what string, whole bool) {
	if s == "" {
		u.say("there are no lines to copy")
		return
	}
	said := "copied " + what
	if !whole {
		said += ", as many as a clipboard takes; s saves all"
	}
	u.clipboard([]byte(s))
	u.say(said)
	if u.options.Copy == nil {
		return
	}
	if !u.jobs.start(u, func(ctx context.Context) func() {
		err := u.options.Copy(ctx, s)
		return func() {
			if err != nil {
				u.say(said + ", but only for the terminal: " + err.Error())
			}
		}
	}) {
		u.say(said + ", but only for the terminal: too much is going on")
	}
}

// plainLines returns lines as they are seen, each with a line break.
func plainLines(lines []logstore.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(text.CleanTabs(l.Text) + "\n")
	}
	return b.String()
}

// selectLines begins a selection at the cursor, or ends it.
func (u *ui) selectLines() {
	p := u.log
	if p.anchor != 0 {
		p.anchor = 0
		return
	}
	if it := p.item(); it != nil {
		if p.cursor == 0 {
			p.place(it.First)
		}
		p.anchor = p.cursor
	}
}
