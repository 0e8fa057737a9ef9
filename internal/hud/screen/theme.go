package screen

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// theme maps meanings to styles for this terminal.
type theme struct {
	ascii   bool // the terminal shows ASCII only
	noColor bool
	// background is the terminal's own background.
	background background
	// colours are the user's choice; nil means the terminal's own sixteen.
	colours *colours
}

// colours are the styles of a theme.
type colours struct {
	styles [view.Strong + 1]tcell.Style
	hues   [hueCount]tcell.Color
}

func (t theme) palette() *colours {
	if t.colours == nil {
		return &ownColours
	}
	return t.colours
}

func (t theme) style(tone view.Tone) tcell.Style {
	s := t.palette().styles[tone]
	if t.noColor {
		return s.Foreground(tcell.ColorDefault).Background(tcell.ColorDefault).Dim(tone == view.Dim)
	}
	return s
}

// selection is the style of the selection, in the tone of its status.
func (t theme) selection(tone view.Tone) tcell.Style {
	return t.style(tone).Dim(false).Bold(true).Reverse(true)
}

// hue returns the style of a name whose hue view.Hues has chosen.
func (t theme) hue(i int) tcell.Style {
	if t.noColor {
		return tcell.StyleDefault
	}
	return tcell.StyleDefault.Foreground(t.palette().hues[i])
}

// glyphs are the marks of rows.
var glyphs = map[view.Status]view.Span{
	view.Well:     {Text: "✔", Tone: view.Good},
	view.Updating: {Text: "●", Tone: view.Accent},
	view.Waiting:  {Text: "◌", Tone: view.Warn},
	view.Failed:   {Text: "✖", Tone: view.Bad},
	view.Unknown:  {Text: "?", Tone: view.Warn},
	view.Warning:  {Text: "!", Tone: view.Warn},
	view.Idle:     {Text: "○", Tone: view.Dim},
}

var (
	spinner      = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	asciiSpinner = []string{"|", "/", "-", "\\"}
)

// moving returns the glyph of a row that is being updated, at a step of the animation.
func (t theme) moving(step int) view.Span {
	frames := spinner
	if t.ascii {
		frames = asciiSpinner
	}
	return view.Span{Text: frames[step%len(frames)], Tone: view.Accent}
}

// plainForms are the replacements of characters, of the same width, for terminals that show only ASCII.
var plainForms = map[string]string{
	"✔": "v", "●": "*", "•": "*", "›": ">", "◌": ".", "✖": "x", "○": "o", "–": "-", "…": "~", "×": "x", "≠": "#", "·": "-", "─": "-", "│": "|",
	"▓": "#", "░": ".", "▌": ">", "▾": "v", "▸": ">", "▲": "^", "▼": "v", "◆": "#", "↻": "r", "↵": "<", "↑": "^", "↓": "v", "→": ">", "←": "<",
}

// text returns a text as the terminal shows it.
func (t theme) text(s string) string {
	var b strings.Builder
	for _, g := range text.Parse(s) {
		b.WriteString(t.show(g.Text, g.Width))
	}
	return b.String()
}

// show returns the text to draw for a grapheme that takes width columns.
func (t theme) show(grapheme string, width int) string {
	if !t.ascii || len(grapheme) == 1 {
		return grapheme
	}
	if s, ok := plainForms[grapheme]; ok {
		return s
	}
	if width == 2 {
		return "??"
	}
	return "?"
}
