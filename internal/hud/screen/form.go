package screen

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// form is a list of inputs above the footer, which the user fills in and sends.
type form struct {
	ui     *ui
	title  string
	fields []*field
	at     int
	// confirmed is set once the user has sent the form, if it must be sent twice.
	confirm, confirmed bool
	wrong              string
	send               func(inputs map[string]any) error
	area               rect
}

var (
	_ typist  = (*form)(nil)
	_ pointed = (*form)(nil)
)

// field is one input of a form.
type field struct {
	model.Input
	text   *tview.InputField // of a text
	on     bool              // of a bool
	choice int               // of a choice
}

// fieldsOf returns the fields of inputs. Hidden inputs have a value of their own and no field.
func fieldsOf(inputs []model.Input) []*field {
	var fields []*field
	for _, in := range inputs {
		f := &field{Input: in, on: in.On}
		if f.Label == "" {
			f.Label = in.Name
		}
		switch in.Kind {
		case model.InputHidden:
			continue
		case model.InputText:
			f.text = tview.NewInputField().SetText(in.Default).SetPlaceholder(in.Placeholder)
			f.text.Focus(nil)
		case model.InputChoice, model.InputBool:
		}
		fields = append(fields, f)
	}
	return fields
}

// value returns the text that a click sends.
func (f *field) value() any {
	switch f.Kind {
	case model.InputBool:
		return f.on
	case model.InputChoice:
		return f.Choices[f.choice]
	case model.InputText, model.InputHidden:
	}
	return f.text.GetText()
}

// fill opens a form. send is called with the values, and the form stays open while it returns an error.
func (u *ui) fill(title string, fields []*field, confirm bool, send func(inputs map[string]any) error) {
	u.push(&form{ui: u, title: title, fields: fields, confirm: confirm, send: send})
}

func (f *form) place() place { return inPrompt }
func (f *form) covers() bool { return false }
func (f *form) mover() mover { return f.ui.layers[0].mover() }

func (f *form) typed(event *tcell.EventKey) {
	now := f.fields[f.at]
	switch event.Key() {
	case tcell.KeyEscape, tcell.KeyCtrlC:
		f.ui.remove(f)
		return
	case tcell.KeyEnter:
		f.enter()
		return
	case tcell.KeyTab, tcell.KeyDown:
		f.at = (f.at + 1) % len(f.fields)
		return
	case tcell.KeyBacktab, tcell.KeyUp:
		f.at = (f.at + len(f.fields) - 1) % len(f.fields)
		return
	}
	f.confirmed, f.wrong = false, ""
	switch now.Kind {
	case model.InputBool:
		now.on = now.on != (event.Key() == tcell.KeyLeft || event.Key() == tcell.KeyRight || event.Rune() == ' ')
	case model.InputChoice:
		by := 1
		if event.Key() == tcell.KeyLeft {
			by = -1
		} else if event.Key() != tcell.KeyRight && event.Rune() != ' ' {
			return
		}
		now.choice = (now.choice + by + len(now.Choices)) % len(now.Choices)
	case model.InputText, model.InputHidden:
		now.text.InputHandler()(event, func(tview.Primitive) {})
	}
}

func (f *form) pasted(text string) {
	if now := f.fields[f.at]; now.Kind == model.InputText {
		f.confirmed, f.wrong = false, ""
		now.text.PasteHandler()(oneLine(text), func(tview.Primitive) {})
	}
}

// enter sends the form, only at the second time if the form has to be confirmed.
func (f *form) enter() {
	if f.confirm && !f.confirmed {
		f.confirmed = true
		return
	}
	inputs := map[string]any{}
	for _, field := range f.fields {
		inputs[field.Name] = field.value()
	}
	if err := f.send(inputs); err != nil {
		f.confirmed, f.wrong = false, words.OneLine(problem.Text(err))
		return
	}
	f.ui.remove(f)
}

func (f *form) draw(c canvas, area rect) {
	f.area = c.drawer(area, len(f.fields), f.title, "")
	widest := 0
	for _, field := range f.fields {
		widest = max(widest, text.Width(field.Label))
	}
	widest = min(widest, f.area.w/2)
	first := max(0, f.at-f.area.h+1)
	for i := 0; i < f.area.h && first+i < len(f.fields); i++ {
		field, y := f.fields[first+i], f.area.y+i
		style := c.theme.style(view.Dim)
		if first+i == f.at {
			c.text(f.area.x+1, y, 1, "▌", c.theme.style(view.Accent))
			style = c.theme.style(view.Strong)
		}
		c.text(f.area.x+3, y, widest, text.CutMiddle(field.Label, widest), style)
		x := f.area.x + 3 + widest + 2
		room := f.area.x + f.area.w - x - 1
		switch field.Kind {
		case model.InputBool:
			c.text(x, y, room, map[bool]string{true: "[x]", false: "[ ]"}[field.on], c.theme.style(view.Plain))
		case model.InputChoice:
			c.spans(x, y, room, field.options().Fit(room))
		case model.InputText, model.InputHidden:
			c.input(rect{x, y, room, 1}, "", field.text)
			if first+i != f.at {
				c.HideCursor()
			}
		}
	}
}

// options shows the choices of a field, with the chosen one standing out.
func (f *field) options() view.Cell {
	var cell view.Cell
	for i, o := range f.Choices {
		tone := view.Dim
		if i == f.choice {
			o, tone = "‹"+o+"›", view.Accent
		}
		cell = append(cell, view.Span{Text: o + "  ", Tone: tone})
	}
	return cell
}

func (f *form) line(c canvas, area rect) {
	said, tone := "Enter runs it   Tab next   Esc cancels", view.Dim
	switch now := f.fields[f.at]; {
	case f.wrong != "":
		said, tone = f.wrong, view.Bad
	case f.confirmed:
		said, tone = fmt.Sprintf("Enter again runs %s   Esc cancels", f.title), view.Warn
	case now.Kind == model.InputBool:
		said += "   Space switches"
	case now.Kind == model.InputChoice:
		said += "   ← → choose"
	}
	c.text(area.x+1, area.y, area.w-2, text.Cut(said, area.w-2), c.theme.style(tone))
}

// point implements pointed: a click goes to a field, and switches it.
func (f *form) point(g gesture) *verb {
	i := f.area.rowAt(g.x, g.y, max(0, f.at-f.area.h+1), len(f.fields))
	if g.kind != press || i < 0 {
		return nil
	}
	return &verb{name: "select", do: func(*ui) {
		f.at = i
		if f.fields[i].Kind != model.InputText {
			f.typed(tcell.NewEventKey(tcell.KeyRune, ' ', tcell.ModNone))
		}
	}}
}

// question is a line that asks before something is lost.
type question struct {
	ui   *ui
	text string
	do   func()
}

var _ typist = (*question)(nil)

// confirm asks, and does it if the user presses y.
func (u *ui) confirm(text string, do func()) { u.push(&question{u, text, do}) }

func (q *question) place() place      { return inPrompt }
func (q *question) covers() bool      { return false }
func (q *question) mover() mover      { return q.ui.layers[0].mover() }
func (q *question) draw(canvas, rect) {}
func (q *question) pasted(string)     {}

// typed takes y as yes, and everything else as no: a key that is held down must not confirm.
func (q *question) typed(event *tcell.EventKey) {
	q.ui.remove(q)
	if event.Key() == tcell.KeyRune && (event.Rune() == 'y' || event.Rune() == 'Y') {
		q.do()
	}
}

func (q *question) line(c canvas, area rect) {
	tail := "   y yes   any other key no"
	room := area.w - 2 - text.Width(tail)
	c.text(area.x+1, area.y, area.w-2, text.CutMiddle(strings.TrimSpace(q.text), room)+tail, c.theme.style(view.Warn))
}
