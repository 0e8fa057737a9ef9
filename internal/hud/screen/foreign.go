package screen

import (
	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/text"
)

// Programs choose their colours for the background of another terminal than the user's. Where hone knows the background, it moves those
// that cannot be read on it to the nearest that can, in the same hue.

// look is a colour of the terminal's own sixteen, which may be faint.
type look struct {
	color tcell.Color
	dim   bool
}

// moved are the ones of the terminal's own sixteen colours that cannot be read on a background, and what is shown instead. How a
// terminal shows the sixteen is its user's choice; these are close to the background in nearly all.
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

// readable returns the colour of a program's text, so that it can be read. On a background of the program's own, it is the program's.
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

// steps is in how many steps a colour moves to white or to black.
const steps = 32

// towards returns a colour with as little white or black in it as makes it readable on a background.
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
