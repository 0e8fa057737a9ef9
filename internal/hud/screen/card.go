package screen

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// readLines is how many lines of a failure's log are read, and cardLines how many of them a card shows.
	readLines, cardLines = 300, 10
)

// cardView shows one failure: what, why, the lines that matter, what helps, who waits.
type cardView struct {
	ui *ui
	// resource and aspect identify the card, whatever is before it.
	resource model.ManifestName
	aspect   view.Aspect
	offset   int
	rows     int
	height   int
	area     rect
}

var (
	_ layer   = (*cardView)(nil)
	_ mover   = (*cardView)(nil)
	_ pointed = (*cardView)(nil)
)

func (v *cardView) place() place { return inCard }
func (v *cardView) covers() bool { return false }
func (v *cardView) mover() mover { return v }

func (v *cardView) move(by int) { v.offset = max(0, min(v.offset+by, v.rows-v.height)) }

func (v *cardView) turn(pages int) { v.move(pages * max(1, v.height-1)) }

func (v *cardView) edge(last bool) {
	v.offset = 0
	if last {
		v.move(v.rows)
	}
}

// point implements pointed.
func (v *cardView) point(g gesture) *verb {
	switch g.kind {
	case wheelUp:
		return &verb{name: "scroll", do: func(*ui) { v.move(-wheelRows) }}
	case wheelDown:
		return &verb{name: "scroll", do: func(*ui) { v.move(wheelRows) }}
	case press:
		if !v.area.has(g.x, g.y) {
			return v.ui.verb("back")
		}
	case click, doubleClick, drag, dropped:
	}
	return nil
}

// index returns the place of the card among the cards of the frame; -1 if the failure is gone.
func (v *cardView) index() int {
	for i, c := range v.ui.frame.View.Cards {
		if c.Resource == v.resource && c.Aspect == v.aspect {
			return i
		}
	}
	return -1
}

// nextError shows the next or the previous error, and selects its resource. Errors are the cards of what is failing, then the
// error lines that the last updates of the other resources have brought, which are shown once, in the log. From the table, it
// begins with the card of the selected resource, or else the first after it.
func (u *ui) nextError(direction int) {
	cards := u.frame.View.Cards
	v, open := u.top().(*cardView)
	over := len(cards) == 0 // no card comes next
	at := -1
	switch {
	case over:
	case open:
		at = max(v.index(), 0) + direction
		over = at == len(cards)
		at = (at + len(cards)) % len(cards)
	default:
		at = u.nearestCard(direction)
		r := u.selected()
		over = direction > 0 && r != nil && u.shownCard == u.lastCard() && u.shownCard.resource == r.Name
	}
	if over && direction > 0 && (open || u.top() == u.main) {
		if name, found := u.newError(); found {
			if open {
				u.pop()
			}
			u.showNewError(name)
			return
		}
	}
	if open {
		u.pop()
	}
	if len(cards) == 0 {
		u.say("nothing is failing")
		return
	}
	u.showCard(cards[at])
}

// lastCard identifies the last card; there must be one.
func (u *ui) lastCard() cardKey {
	c := u.frame.View.Cards[len(u.frame.View.Cards)-1]
	return cardKey{c.Resource, c.Aspect}
}

func (u *ui) showCard(c view.Card) {
	u.table.show(c.Resource)
	u.main.one = true
	u.push(&cardView{ui: u, resource: c.Resource, aspect: c.Aspect})
}

// bringCard shows the card of a failure whose first line the user has just been shown in the log: a program says why it fails a
// moment before it is known to fail, and whoever asks for the error in between wants the card too. Any key ends the wish.
func (u *ui) bringCard(now time.Time) {
	if u.wanted == "" {
		return
	}
	if !now.Before(u.wantedUntil) || u.top() != u.main {
		u.wanted = ""
		return
	}
	for _, c := range u.frame.View.Cards {
		if c.Resource == u.wanted {
			u.wanted = ""
			u.showCard(c)
			return
		}
	}
}

// nearestCard returns the card to show first: that of the selected resource if it was not just shown, else the next one in
// the order of the cards.
func (u *ui) nearestCard(direction int) int {
	cards := u.frame.View.Cards
	if r := u.selected(); r != nil {
		for i, c := range cards {
			if c.Resource != r.Name {
				continue
			}
			if u.shownCard == (cardKey{c.Resource, c.Aspect}) {
				return (i + direction + len(cards)) % len(cards)
			}
			return i
		}
	}
	if direction < 0 {
		return len(cards) - 1
	}
	return 0
}

// cardKey identifies a card.
type cardKey struct {
	resource model.ManifestName
	aspect   view.Aspect
}

func (u *ui) card() *view.Card {
	if v, ok := u.top().(*cardView); ok {
		if i := v.index(); i >= 0 {
			return &u.frame.View.Cards[i]
		}
	}
	return nil
}

// cardLog shows the whole log of the failure.
func (u *ui) cardLog() {
	c := u.card()
	if c == nil {
		return
	}
	name, span := c.Resource, c.Span
	u.pop()
	if span == "" {
		u.main.one, u.main.inLog = true, true
		return
	}
	u.showSpan(name, span)
}

// cardPrevious shows the log of the run before the one that failed.
func (u *ui) cardPrevious() {
	u.cardLog()
	u.settle()
	u.jumpRun(true)
}

func (u *ui) cardDetails() {
	if c := u.card(); c != nil {
		name := c.Resource
		u.pop()
		u.openDetails(name)
	}
}

// excerptTime is how long an excerpt of a log is used before it is read again.
const excerptTime = 500 * time.Millisecond

// excerpts keeps the lines that matter of the card that was read last.
type excerpts struct {
	key    cardKey
	output string
	span   string
	until  time.Time
	lines  []string
}

// excerpt returns the lines of a failure's output that matter.
func (u *ui) excerpt(c *view.Card) []string {
	e, now := &u.excerpts, u.options.Now()
	key := cardKey{c.Resource, c.Aspect}
	if e.key != key || e.output != c.Output || e.span != c.Span || now.After(e.until) {
		*e = excerpts{key, c.Output, c.Span, now.Add(excerptTime), u.readExcerpt(c)}
	}
	return e.lines
}

func (u *ui) readExcerpt(c *view.Card) []string {
	var all []string
	if c.Output != "" {
		for _, l := range splitLines(c.Output) {
			all = append(all, text.Clean(l))
		}
	} else if c.Span != "" {
		f := logstore.Filter{Resources: []model.ManifestName{c.Resource}, Span: c.Span}
		for _, l := range u.options.Logs.ReadBefore(f, math.MaxUint64, readLines) {
			all = append(all, text.Clean(l.Text))
		}
	}
	var out []string
	for _, i := range logline.Essential(all, cardLines) {
		out = append(out, all[i])
	}
	return out
}

// content returns the lines of a card.
func (v *cardView) content(c *view.Card) []view.Line {
	var lines []view.Line
	add := func(indent int, spans ...view.Span) { lines = append(lines, view.Line{Cell: spans, Indent: indent}) }
	for _, s := range c.Cause {
		add(2, view.Span{Text: s})
	}
	if excerpt := v.ui.excerpt(c); len(excerpt) > 0 {
		add(0)
		for _, s := range excerpt {
			add(4, view.Span{Text: "  "}, view.Span{Text: s, Tone: view.Bad})
		}
	}
	if len(c.Helps) > 0 {
		add(0)
		for i, s := range c.Helps {
			head := "What helps: "
			if i > 0 {
				head = text.PadRight("", len(head))
			}
			add(12, view.Span{Text: head, Tone: view.Strong}, view.Span{Text: s})
		}
	}
	if len(c.Waiting) > 0 {
		add(0)
		chain := string(c.Resource)
		for _, n := range c.Waiting[:min(len(c.Waiting), 8)] {
			chain += " → " + string(n)
		}
		if n := len(c.Waiting) - 8; n > 0 {
			chain += fmt.Sprintf(" and %d more", n)
		}
		add(12, view.Span{Text: "Waiting for it: ", Tone: view.Strong}, view.Span{Text: chain})
	}
	return lines
}

func (v *cardView) draw(c canvas, area rect) {
	i := v.index()
	title := "this failure is gone"
	var lines []view.Line
	if i >= 0 {
		card := &v.ui.frame.View.Cards[i]
		v.ui.shownCard = cardKey{card.Resource, card.Aspect}
		names := string(card.Resource)
		for _, n := range card.Also {
			names += ", " + string(n)
		}
		title = text.CutMiddle(names, max(area.w/3, 12)) + " ─ " + card.Title
		if !card.Since.IsZero() {
			title += " ─ since " + card.Since.Local().Format("15:04:05")
		}
		lines = v.content(card)
	}
	if area.w < 8 || area.h < 3 {
		return
	}
	var rows []view.Cell
	for _, l := range lines {
		rows = append(rows, l.Rows(area.w-4)...)
	}
	v.rows, v.height = len(rows), max(1, min(len(rows), area.h*2/3-2))
	v.move(0)
	box, _ := area.bottom(v.height + 2)
	v.area = box
	bad, dim := c.theme.style(view.Bad), c.theme.style(view.Dim)
	for y := range box.h {
		for x := range box.w {
			c.Put(box.x+x, box.y+y, " ", c.theme.style(view.Plain))
		}
	}
	c.rule(box.x, box.y, box.w, bad)
	c.rule(box.x, box.y+box.h-1, box.w, dim)
	right := ""
	if i >= 0 {
		right = fmt.Sprintf(" %d of %d ─ e next  Esc ", i+1, len(v.ui.frame.View.Cards))
	}
	c.text(box.x+1, box.y, box.w-text.Width(right)-3, " ✖ "+text.Cut(title, box.w-text.Width(right)-8)+" ", bad)
	c.text(box.x+box.w-text.Width(right)-1, box.y, text.Width(right), right, dim)
	for n := 0; n < v.height && v.offset+n < len(rows); n++ {
		c.spans(box.x+2, box.y+1+n, box.w-4, rows[v.offset+n])
		c.linkPlaces(box.x+2, box.y+1+n, box.w-4, v.resource, rows[v.offset+n].String())
	}
	if more := len(rows) - v.offset - v.height; more > 0 {
		sign := fmt.Sprintf(" ▼ %d ", more)
		c.text(box.x+box.w-text.Width(sign)-1, box.y+box.h-1, text.Width(sign), sign, c.theme.style(view.Accent))
	}
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
