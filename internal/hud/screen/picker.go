package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// choice is an item of a picker.
type choice struct {
	// text is read by the user, who types parts of it; mark is shown before it and note behind it, with the key.
	text string
	mark view.Span
	note string
	key  string
	// off is why it cannot be chosen now; empty if it can.
	off string
	do  func()
}

// picker is a list above the footer, from which the user chooses by typing parts of the texts. It follows the session: a new resource
// can be chosen, and one that is gone cannot.
type picker struct {
	ui      *ui
	title   string
	list    func() []choice
	choices []choice
	field   *tview.InputField

	found []int // indexes of the choices that match, best first
	// at is the selected one of them; -1 if it is gone, until the user selects another.
	at, offset int
	area       rect // of the choices, when they were drawn last
}

var (
	_ typist  = (*picker)(nil)
	_ pointed = (*picker)(nil)
	_ mover   = (*picker)(nil)
)

// choose opens a picker for the result of list, which is called again whenever the session has changed.
func (u *ui) choose(title string, list func() []choice) {
	p := &picker{ui: u, title: title, list: list, choices: list(), field: tview.NewInputField()}
	p.field.Focus(nil)
	p.match()
	u.push(p)
}

// offer brings the picker up to date, if one is open.
func (u *ui) offer() {
	p, ok := u.top().(*picker)
	if !ok {
		return
	}
	u.pop() // the possible choices depend on the layer below
	choices := p.list()
	u.push(p)
	p.renew(choices)
}

// renew replaces the choices. The selected choice stays selected, so that Enter never chooses one that the user has not seen
// there.
func (p *picker) renew(choices []choice) {
	at, offset, any := p.at, p.offset, len(p.found) > 0
	var chosen choice
	if any && at >= 0 {
		chosen = p.choices[p.found[at]]
	}
	p.choices = choices
	p.match()
	if !any {
		return
	}
	p.at, p.offset = -1, offset
	if at < 0 {
		return
	}
	for i, f := range p.found {
		if c := p.choices[f]; c.text == chosen.text && (p.at < 0 || c.note == chosen.note) {
			p.at = i
		}
	}
}

func (p *picker) place() place { return inPrompt }
func (p *picker) covers() bool { return false }
func (p *picker) mover() mover { return p }

// match finds the choices that match the typed text: in its text first, else in its note.
func (p *picker) match() {
	p.found, p.at, p.offset = p.found[:0], 0, 0
	typed := strings.TrimSpace(p.field.GetText())
	if typed == "" {
		for i := range p.choices {
			p.found = append(p.found, i)
		}
		return
	}
	texts := make([]string, len(p.choices))
	for i, c := range p.choices {
		texts[i] = c.text
	}
	for _, m := range text.Rank(typed, texts) {
		p.found = append(p.found, m.Index)
	}
	for i, c := range p.choices {
		if strings.Contains(strings.ToLower(c.note), strings.ToLower(typed)) && !slices.Contains(p.found, i) {
			p.found = append(p.found, i)
		}
	}
}

func (p *picker) typed(event *tcell.EventKey) {
	switch event.Key() {
	case tcell.KeyEnter:
		p.pick(p.at)
	case tcell.KeyEscape, tcell.KeyCtrlC:
		p.ui.remove(p)
	case tcell.KeyUp, tcell.KeyCtrlP, tcell.KeyBacktab:
		p.move(-1)
	case tcell.KeyDown, tcell.KeyCtrlN, tcell.KeyTab:
		p.move(1)
	case tcell.KeyPgUp:
		p.page(-1)
	case tcell.KeyPgDn:
		p.page(1)
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if p.field.GetText() == "" {
			p.ui.remove(p)
			return
		}
		p.edit(func() { p.field.InputHandler()(event, func(tview.Primitive) {}) })
	default:
		p.edit(func() { p.field.InputHandler()(event, func(tview.Primitive) {}) })
	}
}

func (p *picker) pasted(text string) {
	p.edit(func() { p.field.PasteHandler()(oneLine(text), func(tview.Primitive) {}) })
}

func (p *picker) edit(change func()) {
	before := p.field.GetText()
	change()
	if p.field.GetText() != before {
		p.match()
	}
}

// pick carries out a line of the list; if that is not possible, it says why, and the picker stays.
func (p *picker) pick(at int) {
	if !between(at, 0, len(p.found)) {
		return
	}
	c := p.choices[p.found[at]]
	if c.off != "" {
		p.ui.say(c.text + ": " + c.off)
		return
	}
	p.ui.remove(p)
	c.do()
}

func (p *picker) move(by int) { p.at = max(0, min(p.at+by, len(p.found)-1)) }

func (p *picker) page(pages int) { p.move(pages * max(1, p.area.h-1)) }

func (p *picker) edge(last bool) {
	p.at = 0
	if last {
		p.move(len(p.found))
	}
}

func (p *picker) draw(c canvas, area rect) {
	p.area = c.drawer(area, len(p.choices), p.title, fmt.Sprintf("%d of %d", len(p.found), len(p.choices)))
	p.offset = max(0, min(p.offset, p.at, len(p.found)-p.area.h), p.at-p.area.h+1)
	widest, keys := 0, 0
	for _, ch := range p.choices {
		widest, keys = max(widest, text.Width(ch.text)), max(keys, text.Width(ch.key))
	}
	widest = min(widest, p.area.w/2)
	for i := range min(p.area.h, len(p.found)-p.offset) {
		ch, y := p.choices[p.found[p.offset+i]], p.area.y+i
		tone := view.Plain
		if ch.off != "" {
			tone = view.Dim
		}
		x := p.area.x + 2
		if ch.mark.Text != "" {
			x = c.spans(x, y, 2, view.Cell{ch.mark}) + 1
		}
		c.text(x, y, widest, text.CutMiddle(ch.text, widest), c.theme.style(tone))
		x += widest + 2
		if keys > 0 {
			c.text(x, y, keys, ch.key, c.theme.style(view.Accent))
			x += keys + 2
		}
		room := p.area.x + p.area.w - x - 1
		c.text(x, y, room, text.Cut(cmp.Or(ch.off, ch.note), room), c.theme.style(view.Dim))
		if p.offset+i == p.at {
			style := c.theme.selection(view.Accent)
			c.restyle(p.area.x+1, y, p.area.w-2, func(tcell.Style) tcell.Style { return style })
		}
	}
	if len(p.found) == 0 && p.area.h > 0 {
		c.text(p.area.x+2, p.area.y, p.area.w-3, "nothing matches", c.theme.style(view.Dim))
	}
}

func (p *picker) line(c canvas, area rect) {
	if p.ui.message != "" {
		c.text(area.x+1, area.y, area.w-2, text.Cut(p.ui.message, area.w-2), c.theme.style(view.Warn))
		return
	}
	c.input(area, "› ", p.field)
}

// point implements pointed: a click chooses, the wheel moves.
func (p *picker) point(g gesture) *verb {
	switch g.kind {
	case wheelUp:
		return &verb{name: "scroll", do: func(*ui) { p.move(-wheelRows) }}
	case wheelDown:
		return &verb{name: "scroll", do: func(*ui) { p.move(wheelRows) }}
	case press:
		if at := p.area.rowAt(g.x, g.y, p.offset, len(p.found)); at >= 0 {
			return &verb{name: "select-choice", do: func(*ui) { p.at = at }}
		}
	case click:
		if at := p.area.rowAt(g.x, g.y, p.offset, len(p.found)); at >= 0 && at == p.at {
			return &verb{name: "choose", do: func(*ui) { p.pick(at) }}
		}
	case doubleClick, drag, dropped:
	}
	return nil
}

// palette lists all verbs by name: first the verbs that act here, then the ones that only move, then the verbs of other places.
func (u *ui) palette() { u.choose("commands", u.commands) }

func (u *ui) commands() []choice {
	at := u.top().place()
	if u.top() == u.main {
		at = inMain
	}
	var choices, moves, elsewhere []choice
	for _, v := range u.verbs {
		c := choice{text: v.name, note: v.help, key: v.label(), do: func() { u.dispatch(&v) }}
		if v.in&at == 0 {
			c.off = u.elsewhere(v, u.top().place())
			elsewhere = append(elsewhere, c)
			continue
		}
		if why := u.refusal(&v); why != nil {
			c.off = oneLineOf(why)
		}
		if v.moves() {
			moves = append(moves, c)
		} else {
			choices = append(choices, c)
		}
	}
	return slices.Concat(choices, moves, elsewhere)
}

// jump lists the resources, to go to one of them.
func (u *ui) jump() {
	u.choose("resources", func() []choice {
		var choices []choice
		for _, r := range u.frame.View.Rows {
			choices = append(choices, choice{text: string(r.Name), mark: glyphs[r.Status], note: r.Important().String(), do: func() { u.goTo(r.Name) }})
		}
		return choices
	})
}

// goTo selects a resource in the table; where details are open, it shows the resource's.
func (u *ui) goTo(name model.ManifestName) {
	if _, ok := u.top().(*detailsView); ok {
		u.pop()
		u.openDetails(name)
		return
	}
	for u.pop() {
	}
	u.main.goTo(false)
	u.table.show(name)
}
