package screen

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// keptAnswers bounds the earlier entries of a prompt that can be recalled.
const keptAnswers = 50

// prompt is a line that the user types; it replaces the footer. It edits as a shell does, takes pasted text, and recalls
// earlier entries with the arrow keys.
type prompt struct {
	ui    *ui
	field *tview.InputField
	label string
	// changed is called after every change and returns the fault of the text so far. done is called once at the end;
	// ok is false if the user cancelled the prompt.
	changed func(string) error
	done    func(text string, ok bool)
	wrong   error
	// back counts the entries from the newest to the shown one; draft is the text that was typed before.
	back  int
	draft string
}

var _ typist = (*prompt)(nil)

// ask opens a prompt.
func (u *ui) ask(label, text string, changed func(string) error, done func(text string, ok bool)) {
	p := &prompt{ui: u, label: label, field: tview.NewInputField().SetText(text), changed: changed, done: done}
	p.field.Focus(nil)
	u.push(p)
}

func (p *prompt) place() place { return inPrompt }
func (p *prompt) covers() bool { return false }
func (p *prompt) mover() mover { return p.ui.layers[0].mover() }

func (p *prompt) typed(event *tcell.EventKey) {
	switch event.Key() {
	case tcell.KeyEnter:
		p.end(true)
		return
	case tcell.KeyEscape, tcell.KeyCtrlC:
		p.end(false)
		return
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if p.field.GetText() == "" {
			p.end(false)
			return
		}
	case tcell.KeyUp, tcell.KeyCtrlP:
		p.recall(1)
		return
	case tcell.KeyDown, tcell.KeyCtrlN:
		p.recall(-1)
		return
	}
	p.edit(func() { p.field.InputHandler()(event, func(tview.Primitive) {}) })
}

// pasted adds pasted text; its line breaks become blanks, since a prompt is one line.
func (p *prompt) pasted(text string) {
	p.edit(func() { p.field.PasteHandler()(oneLine(text), func(tview.Primitive) {}) })
}

// oneLine replaces the line breaks of a pasted text.
func oneLine(pasted string) string {
	return strings.Join(strings.FieldsFunc(pasted, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

func (p *prompt) edit(change func()) {
	before := p.field.GetText()
	change()
	if now := p.field.GetText(); now != before {
		p.wrong = p.changed(now)
	}
}

// recall shows an earlier entry, or with a negative number a later one.
func (p *prompt) recall(by int) {
	kept := p.ui.asked[p.label]
	to := min(max(p.back+by, 0), len(kept))
	if to == p.back {
		return
	}
	if p.back == 0 {
		p.draft = p.field.GetText()
	}
	p.back = to
	p.edit(func() {
		if to == 0 {
			p.field.SetText(p.draft)
			return
		}
		p.field.SetText(kept[len(kept)-to])
	})
}

func (p *prompt) end(ok bool) {
	text := p.field.GetText()
	if ok && text != "" {
		p.ui.asked[p.label] = remember(p.ui.asked[p.label], text)
	}
	p.ui.remove(p)
	p.done(text, ok)
}

// remember adds an answer to the newest ones, unless it repeats the last.
func remember(kept []string, answer string) []string {
	if len(kept) > 0 && kept[len(kept)-1] == answer {
		return kept
	}
	return append(kept[max(0, len(kept)+1-keptAnswers):], answer)
}

func (p *prompt) draw(canvas, rect) {}

func (p *prompt) line(c canvas, area rect) {
	if p.wrong != nil {
		room := area.w - 2 - text.Width(p.label)
		note := view.Cell{{Text: "  " + p.wrong.Error(), Tone: view.Bad}}.Fit(room / 2)
		c.spans(area.x+area.w-1-note.Width(), area.y, note.Width(), note)
		area.w -= note.Width()
	}
	c.input(area, p.label, p.field)
}
