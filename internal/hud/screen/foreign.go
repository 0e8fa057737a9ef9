package screen

import (
	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/text"
)

// Programs choose their colours for a background that the user's terminal may not have. Where hone knows the background, it
// replaces colours that are unreadable on it by the nearest readable colour of the same hue.

// look is a colour of the terminal's own sixteen, which may be faint.
type look struct {
	color tcell.Color
	dim   bool
}

// moved maps the colours of the terminal's own sixteen that cannot be read on a background to their replacements. The user
// chooses how a terminal shows the sixteen, but in nearly all terminals these are close to the background.
var moved = map[background]map[uint8]look{
	darkBackground:  {0: {tcell.ColorDefault, true}, 4: {tcell.PaletteColor(12), false}, 8: {tcell.ColorDefault, true}},
	lightBackground: {7: {tcell.ColorDefault, true}, 10: {tcell.PaletteColor(2), false}, 11: {tcell.PaletteColor(3), false}, 14: {tcell.PaletteColor(6), false}, 15: {tcell.ColorDefault, false}},
}

// foreign translates the style of a program's output.
func (t theme) foreign(s text.Style) tcell.Style {
	out := tcell.StyleDefault.Bold(s.Bold).Dim(s.Dim).Italic(s.Italic).Underline(s.Underline).Reverse(s.Reverse).
		StrikeThrough(s.Strikeout)
	if t.noColor {
		return out
	}
	fg := t.readable(s)
	return out.Foreground(fg.color).Background(color(s.Bg)).Dim(s.Dim || fg.dim)
}

// readable returns a readable colour for a program's text. If the program also sets the background, its colour stays.
func (t theme) readable(s text.Style) look {
	c := color(s.Fg)
	if t.background == unknownBackground || s.Bg.Kind != text.ColorDefault || c == tcell.ColorDefault {
		return look{color: c}
	}
	if s.Fg.Kind == text.ColorPalette && s.Fg.Index < 16 {
		if to, ok := moved[t.background][s.Fg.Index]; ok {
			return to
		}
		return look{color: c}
	}
	return look{color: towards(t.background, c)}
}

// steps is the number of steps in which a colour moves to white or to black.
const steps = 32

// towards returns a colour with just enough white or black added to be readable on a background.
func towards(b background, c tcell.Color) tcell.Color {
	from, to := rgbOf(c), [3]float64{}
	enough := func(l float64) bool { return l <= readableOnLight }
	if b == darkBackground {
		to, enough = [3]float64{1, 1, 1}, func(l float64) bool { return l >= readableOnDark }
	}
	if enough(luminance(from)) {
		return c
	}
	for n := 1; n < steps; n++ {
		var mixed [3]float64
		for i := range mixed {
			mixed[i] = from[i] + (to[i]-from[i])*float64(n)/steps
		}
		r := tcell.NewRGBColor(int32(mixed[0]*255), int32(mixed[1]*255), int32(mixed[2]*255))
		if enough(luminance(rgbOf(r))) {
			return r
		}
	}
	return tcell.ColorDefault
}

func color(c text.Color) tcell.Color {
	switch c.Kind {
	case text.ColorPalette:
		return tcell.PaletteColor(int(c.Index))
	case text.ColorRGB:
		return tcell.NewRGBColor(int32(c.R), int32(c.G), int32(c.B))
	case text.ColorDefault:
	}
	return tcell.ColorDefault
}
