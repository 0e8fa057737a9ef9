package screen

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// How a failure is shown. The cards themselves are a part of the frame (package view decides which failures there are, and what follows
// from what). This file selects one, reads the lines of its log, and lays it out. All functions run on tview's goroutine, except
// the reading of an excerpt, which a job runs.
//
// A cardView holds no card. It keeps the resource and the aspect, and finds its card again in each frame (index): the failure may have
// changed, have become the consequence of another one, or be gone. The key "e" goes through these states:
//
//	table ──nextError──> a card ──e──> the next card ──e──> … ──e──> the log, at each new error line (nextNewError) ──e──> the first card
//	table ──nextError──> wanted: an error was written, and its update still runs ──bringCard──> its card, or its log
//
// bringCard is called for each frame while wanted is set; a key, or the end of wantedTime, ends that.
//
// The lines of a log are read in three steps, because they may lie behind millions of others: prefetch starts a job for each new card,
// excerpt returns the known lines and starts the job again once it is too old, and the job's result replaces the lines with the frame after
// it. A card is therefore drawn at once, and its lines follow.

// cardView shows one failure: its summary, its cause, the lines that matter, the fix, the resources that wait.
type cardView struct {
	ui *ui
	// resource and aspect identify the card, whatever is before it.
	resource model.ManifestName
	aspect   view.Aspect
	offset   int
	rows     int
	height   int
	area     rect
	finds    textFinder
	// title and text are the content of the card, for copying.
	title string
	text  []view.Line
}

var (
	_ mover   = (*cardView)(nil)
	_ pointed = (*cardView)(nil)
)

func (v *cardView) place() place { return inCard }
func (v *cardView) covers() bool { return false }
func (v *cardView) mover() mover { return v }

func (v *cardView) search() *textFinder              { return &v.finds }
func (v *cardView) window() (first *int, height int) { return &v.offset, v.height }

func (v *cardView) whole() []view.Cell {
	out := []view.Cell{{{Text: v.title}}}
	for _, l := range v.text {
		out = append(out, l.Cell)
	}
	return out
}

func (v *cardView) move(by int) { v.offset = max(0, min(v.offset+by, v.rows-v.height)) }

func (v *cardView) page(pages int) { v.move(pages * max(1, v.height-1)) }

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

// index returns the index of the card among the cards of the frame. If the failure has turned out to be a consequence, it is the
// index of the card that explains it now; -1 if the failure is gone.
func (v *cardView) index() int {
	by := -1
	for i, c := range v.ui.frame.View.Cards {
		switch {
		case c.Resource == v.resource && c.Aspect == v.aspect:
			return i
		case by < 0 && c.Resource != v.resource && c.Explains(v.resource):
			by = i
		}
	}
	return by
}

// nextError shows the next or the previous error, and selects its resource. The errors are the cards of the present failures,
// then the error lines that the last updates of the other resources have brought, which are shown once, in the log. From the
// table, it begins with the card of the selected resource, or else the first after it.
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
		over = r != nil && u.shownCard == u.lastCard() && u.shownCard.resource == r.Name
	}
	if over && direction > 0 && u.nextNewError() {
		return
	}
	if open {
		u.pop()
	}
	if len(cards) == 0 {
		u.say("nothing is failing")
		return
	}
	if open && len(cards) == 1 {
		u.say("this is the only failure")
	}
	u.showCard(cards[at])
}

// nextNewError shows the next error line that an update has brought, after the last card or from the table, and reports whether there
// is one.
func (u *ui) nextNewError() bool {
	_, open := u.top().(*cardView)
	name, found := u.newError()
	if !found || !open && u.top() != u.main {
		return false
	}
	if open {
		u.pop()
	}
	u.showOrAwait(name)
	return true
}

// lastCard identifies the last card; there must be one.
func (u *ui) lastCard() cardKey {
	c := u.frame.View.Cards[len(u.frame.View.Cards)-1]
	return cardKey{c.Resource, c.Aspect}
}

func (u *ui) showCard(c view.Card) {
	u.table.show(c.Resource)
	u.main.scope = selectedLog
	if e := u.excerpts[cardKey{c.Resource, c.Aspect}]; e != nil {
		e.until = time.Time{} // lines may have come since they were prefetched
	}
	u.push(&cardView{ui: u, resource: c.Resource, aspect: c.Aspect})
}

// showOrAwait shows the new error of a resource in the log. While the update of the resource is not over, it may still fail or
// recover: its card is awaited first, and the log is left as it is.
func (u *ui) showOrAwait(name model.ManifestName) {
	for _, r := range u.frame.View.Rows {
		if r.Name == name && !r.Settled() {
			u.wanted, u.wantedUntil, u.wantedLog = name, u.options.Now().Add(wantedTime), true
			u.say(string(name) + " has just written an error: its card follows if it fails")
			return
		}
	}
	u.showNewError(name)
}

// bringCard shows the card of a failure that the user asked for before hone knew the failure: a program names the cause a moment
// before it fails. If it does not fail, its error is shown in the log, unless that has been done. Any key ends the request.
func (u *ui) bringCard(now time.Time) {
	if u.wanted == "" {
		return
	}
	if !now.Before(u.wantedUntil) || u.top() != u.main {
		name, inLog := u.wanted, u.wantedLog && u.top() == u.main
		u.wanted, u.wantedLog = "", false
		if still, _ := u.newError(); inLog && still == name {
			u.showNewError(name)
		}
		return
	}
	for _, c := range u.frame.View.Cards {
		if c.Explains(u.wanted) {
			u.wanted = ""
			u.showCard(c)
			return
		}
	}
}

// nearestCard returns the index of the card to show first: the card of the selected resource, or of a resource that it waits for,
// if that was not just shown, else the next one in the order of the cards.
func (u *ui) nearestCard(direction int) int {
	cards := u.frame.View.Cards
	if r := u.selected(); r != nil {
		for i, c := range cards {
			if !c.Concerns(r.Name) {
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
		u.main.scope = selectedLog
		u.main.goTo(true)
		return
	}
	u.showSpan(name, span)
}

// cardPrevious shows the log of the run before the one that failed.
func (u *ui) cardPrevious() {
	c := u.card()
	if c == nil {
		return
	}
	if of, ok := runOf(c.Span); ok {
		u.previousRun(c.Resource, of)
	}
}

func (u *ui) cardDetails() {
	if c := u.card(); c != nil {
		name := c.Resource
		u.pop()
		u.openDetails(name)
	}
}

// excerptTime is the age at which an excerpt of a log is read again.
const excerptTime = 500 * time.Millisecond

// mostExcerpts bounds the cards whose lines are kept.
const mostExcerpts = 64

// excerpt is the lines that matter of a card, as they were read last.
type excerpt struct {
	output, span string
	reading      bool
	until        time.Time
	lines        []string
}

// excerpt returns the lines of a failure's output that matter. They are read away from the drawing, since they may lie behind
// millions of others: a frame shows the last excerpt.
func (u *ui) excerpt(c *view.Card) []string {
	key := cardKey{c.Resource, c.Aspect}
	e := u.excerpts[key]
	if e == nil || e.output != c.Output || e.span != c.Span {
		if len(u.excerpts) >= mostExcerpts {
			clear(u.excerpts)
		}
		e = &excerpt{output: c.Output, span: c.Span}
		u.excerpts[key] = e
	}
	if !e.reading && u.options.Now().After(e.until) {
		card, logs, now := *c, u.options.Logs, u.options.Now
		e.reading = u.jobs.start(u, func(context.Context) func() {
			lines := card.Excerpt(logs)
			return func() { e.reading, e.lines, e.until = false, lines, now().Add(excerptTime) }
		})
	}
	return e.lines
}

// prefetch reads the lines of cards that are new, so that they are there when a card is shown.
func (u *ui) prefetch() {
	for i := range u.frame.View.Cards[:min(len(u.frame.View.Cards), mostExcerpts/2)] {
		if c := &u.frame.View.Cards[i]; u.excerpts[cardKey{c.Resource, c.Aspect}] == nil {
			u.excerpt(c)
		}
	}
}

// content returns the lines of a card.
func (v *cardView) content(c *view.Card) []view.Line {
	var lines []view.Line
	add := func(indent int, spans ...view.Span) { lines = append(lines, view.Line{Cell: spans, Indent: indent}) }
	for i, s := range c.Cause {
		tone := view.Plain
		if i == 0 {
			tone = view.Strong
		}
		spans := view.Cell{{Text: s, Tone: tone}}
		if c.Where != "" && i == 0 {
			spans = append(spans, view.Span{Text: "  " + c.Where, Tone: view.Dim})
		}
		add(2, spans...)
	}
	excerpt := v.ui.excerpt(c)
	if len(excerpt) > 0 {
		add(0)
		for _, s := range excerpt {
			add(4, view.Span{Text: "  "}, view.Span{Text: s, Tone: view.Bad})
		}
	}
	if len(c.Helps)+len(c.Waiting)+len(c.After)+len(c.Consequences) > 0 {
		add(0)
	}
	for i, s := range c.Helps {
		head := "What helps: "
		if i > 0 {
			head = text.PadRight("", len(head))
		}
		add(12, view.Span{Text: head, Tone: view.Strong}, view.Span{Text: s})
	}
	if len(c.After) > 0 {
		add(12, view.Span{Text: "Look first: ", Tone: view.Strong}, view.Span{Text: joined(c.After, ", ") + ", which it depends on, failed before it"})
	}
	for i, f := range c.Consequences[:min(len(c.Consequences), mostConsequences)] {
		head := "Failed after it: "
		if i > 0 {
			head = text.PadRight("", len(head))
		}
		add(17, view.Span{Text: head, Tone: view.Strong}, view.Span{Text: string(f.Resource), Tone: view.Bad}, view.Span{Text: ", " + f.String()})
	}
	if n := len(c.Consequences) - mostConsequences; n > 0 {
		add(17, view.Span{Text: fmt.Sprintf("%*s%d more", len("Failed after it: "), "", n)})
	}
	if len(c.Waiting) > 0 {
		add(12, view.Span{Text: "Waiting for it: ", Tone: view.Strong}, view.Span{Text: v.chain(c, excerpt)})
	}
	if len(c.Said) > 0 {
		add(0)
	}
	for _, s := range c.Said {
		add(2, view.Span{Text: s, Tone: view.Dim})
	}
	return lines
}

// mostConsequences bounds the consequences of a failure that its card names.
const mostConsequences = 5

// chainRings and chainNames bound the part of a chain of waiting resources that a card names.
const chainRings, chainNames = 6, 4

// chain describes the chain of a failure: the place in the source where it begins, if the program or the compiler names it, the
// failed resources, and the resources that wait for them: "App.tsx:41 → shop-ui → e2e".
func (v *cardView) chain(c *view.Card, excerpt []string) string {
	parts := []string{joined(append([]model.ManifestName{c.Resource}, c.Also...), ", ")}
	if p, ok := v.ui.placeOf(c, excerpt); ok {
		parts = slices.Insert(parts, 0, fmt.Sprintf("%s:%d", path.Base(filepath.ToSlash(p.File)), p.Line))
	}
	if len(c.Consequences) > 0 {
		var after []model.ManifestName
		for _, f := range c.Consequences {
			after = append(after, f.Resource)
		}
		parts = append(parts, joined(after, ", "))
	}
	for _, ring := range c.Waiting[:min(len(c.Waiting), chainRings)] {
		parts = append(parts, joined(ring, ", "))
	}
	if n := len(c.Waiting) - chainRings; n > 0 {
		rest := 0
		for _, ring := range c.Waiting[chainRings:] {
			rest += len(ring)
		}
		parts = append(parts, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(parts, " → ")
}

// placeOf returns the first place in the source tree that the lines of a failure name, or its causes.
func (u *ui) placeOf(c *view.Card, excerpt []string) (logline.Place, bool) {
	for _, s := range slices.Concat(excerpt, c.Cause) {
		for _, p := range logline.Places(s) {
			if u.links.known(c.Resource, p) {
				return p, true
			}
		}
	}
	return logline.Place{}, false
}

// joined names resources, the first few if there are many.
func joined(list []model.ManifestName, sep string) string {
	var out []string
	for _, n := range list[:min(len(list), chainNames)] {
		out = append(out, string(n))
	}
	if n := len(list) - chainNames; n > 0 {
		out = append(out, fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, sep)
}

// measure lays the card out in an area, at its bottom.
func (v *cardView) measure(area rect) (laid laidCard) {
	laid.title, laid.sign, laid.tone = "this failure is gone", "✖", view.Bad
	if area.w < 8 || area.h < 3 {
		return laid
	}
	if i := v.index(); i >= 0 {
		card := &v.ui.frame.View.Cards[i]
		v.ui.shownCard = cardKey{card.Resource, card.Aspect}
		names := joined(append([]model.ManifestName{card.Resource}, card.Also...), ", ")
		laid.title = text.CutMiddle(names, max(area.w/3, 12)) + " ─ " + card.Title
		if card.Aspect == view.AspectStuck {
			laid.sign, laid.tone = "◌", view.Warn
		}
		if !card.Since.IsZero() {
			laid.title += " ─ since " + card.Since.Local().Format("15:04:05")
		}
		v.text, v.title = v.content(card), laid.title
		for _, l := range v.text {
			laid.rows = append(laid.rows, l.Rows(area.w-4)...)
		}
		laid.right = fmt.Sprintf(" %d of %d ─ e next  Esc ", i+1, len(v.ui.frame.View.Cards))
	}
	v.rows, v.height = len(laid.rows), max(1, min(len(laid.rows), area.h*2/3-2))
	v.finds.look(laid.rows)
	v.finds.arrive(&v.offset, v.height)
	v.move(0)
	laid.box, _ = area.bottom(v.height + 2)
	return laid
}

// laidCard is a card as it is drawn.
type laidCard struct {
	title, sign, right string
	tone               view.Tone
	rows               []view.Cell
	box                rect
}

func (v *cardView) draw(c canvas, area rect) {
	laid := v.measure(area)
	box, rows := laid.box, laid.rows
	v.area = box
	if box.empty() {
		return
	}
	bad, dim := c.theme.style(laid.tone), c.theme.style(view.Dim)
	for y := range box.h {
		for x := range box.w {
			c.Put(box.x+x, box.y+y, " ", c.theme.style(view.Plain))
		}
	}
	c.rule(box.x, box.y, box.w, bad)
	c.rule(box.x, box.y+box.h-1, box.w, dim)
	c.text(box.x+1, box.y, box.w-text.Width(laid.right)-3, " "+laid.sign+" "+text.Cut(laid.title, box.w-text.Width(laid.right)-8)+" ", bad)
	c.text(box.x+box.w-text.Width(laid.right)-1, box.y, text.Width(laid.right), laid.right, dim)
	for n := range min(v.height, len(rows)-v.offset) {
		c.spans(box.x+2, box.y+1+n, box.w-4, rows[v.offset+n])
		c.linkPlaces(box.x+2, box.y+1+n, box.w-4, v.resource, rows[v.offset+n].String())
		v.finds.mark(c, box.x+2, box.y+1+n, box.w-4, rows[v.offset+n].String())
	}
	v.finds.drawState(c, box.x+box.w-10, box.y+box.h-1)
	if more := len(rows) - v.offset - v.height; more > 0 {
		sign := fmt.Sprintf(" ▼ %d ", more)
		c.text(box.x+box.w-text.Width(sign)-1, box.y+box.h-1, text.Width(sign), sign, c.theme.style(view.Accent))
	}
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
