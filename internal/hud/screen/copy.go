package screen

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/clipboard"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
)

// mostCopied bounds a copied text, in bytes: terminals drop longer texts, or hang.
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
	p.anchor = 0
	list := p.list
	u.gather(func(ctx context.Context) (string, int, bool) { return readSelection(ctx, list, from, to) })
}

// readSelection returns the items of a list from one to another, as they are seen. whole is false if they were too many.
func readSelection(ctx context.Context, list *loglist.List, from, to uint64) (s string, n int, whole bool) {
	var b strings.Builder
	for at := from; at <= to && ctx.Err() == nil; {
		items := list.ItemsAfter(at-1, 200, loglist.Fold{})
		if len(items) == 0 {
			break
		}
		for _, it := range items {
			if it.First > to {
				return b.String(), n, true
			}
			if b.Len() > mostCopied {
				return b.String(), n, false
			}
			b.WriteString(plainLines(it.Lines))
			n += len(it.Lines)
			at = it.First + 1
		}
	}
	return b.String(), n, true
}

// copyShown copies all lines that the filter shows, the newest if they are too many.
func (u *ui) copyShown() {
	list := u.log.list
	u.gather(func(ctx context.Context) (string, int, bool) { return readNewest(ctx, list) })
}

// readNewest returns the newest lines of a list, as they are seen. whole is false if there are more than can be copied.
func readNewest(ctx context.Context, list *loglist.List) (s string, n int, whole bool) {
	var parts []string
	for before, size := uint64(math.MaxUint64), 0; ctx.Err() == nil; {
		lines := list.Before(before, 1000)
		if len(lines) == 0 {
			break
		}
		before = lines[0].Seq
		part := plainLines(lines)
		if size += len(part); size > mostCopied {
			return newestFirst(parts), n, false
		}
		n += len(lines)
		parts = append(parts, part)
	}
	return newestFirst(parts), n, true
}

// newestFirst joins parts of a text that were read from its end on.
func newestFirst(parts []string) string {
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// gather reads lines away from the drawing, since they may be many and lie far apart, and copies them.
func (u *ui) gather(read func(ctx context.Context) (s string, n int, whole bool)) {
	u.job(func(ctx context.Context) func() {
		s, n, whole := read(ctx)
		return func() { u.copy(s, countOf(n), whole) }
	})
}

// countOf is a number of lines in a message.
func countOf(n int) string { return grouped(n) + " " + lines(n) }

// copy puts a text into the clipboards of the terminal and of the desktop, and tells the user which of them have it, in a message
// about the text (what). whole is false if the text is only a part.
func (u *ui) copy(s, what string, whole bool) {
	if s == "" {
		u.say("there are no lines to copy")
		return
	}
	if !whole {
		what += ", as many as a clipboard takes; s saves all"
	}
	u.clipboard([]byte(s))
	if u.options.Copy == nil {
		u.say(copied(what, u.sends, clipboard.ErrNone))
		return
	}
	u.say("copying " + what)
	if !u.jobs.start(u, func(ctx context.Context) func() {
		err := u.options.Copy(ctx, s)
		return func() { u.say(copied(what, u.sends, err)) }
	}) {
		u.say(copied(what, u.sends, errBusy))
	}
}

// errBusy is why the desktop does not get a text while too many jobs run.
var errBusy = errors.New("too much is going on")

// copied says where a text has gone: the terminal gets it if sends is set, and desktop is why the desktop's clipboard has not got
// it. Whether a terminal keeps the text cannot be known: it may lack OSC 52, or refuse it.
func copied(what string, sends bool, desktop error) string {
	switch {
	case desktop == nil:
		return "copied " + what + " to the desktop"
	case errors.Is(desktop, clipboard.ErrNone) && sends:
		return "copied " + what + ": sent to the terminal's clipboard (OSC 52)"
	case errors.Is(desktop, clipboard.ErrNone):
		return "not copied: this terminal takes no text (OSC 52), and no program for a clipboard was found"
	case sends:
		return "copied " + what + ", but only for the terminal: " + desktop.Error()
	}
	return "not copied: " + desktop.Error()
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
