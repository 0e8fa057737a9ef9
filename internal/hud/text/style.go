package text

// Color is a colour in the output of a program: none, a colour of the terminal's palette, or an RGB value.
type Color struct {
	Kind    ColorKind
	Index   uint8 // in the palette
	R, G, B uint8
}

// ColorKind is the kind of a Color.
type ColorKind uint8

// The kinds of colours.
const (
	ColorDefault ColorKind = iota
	ColorPalette
	ColorRGB
)

// Style is the look of a piece of text.
type Style struct {
	Fg, Bg                                           Color
	Bold, Dim, Italic, Underline, Reverse, Strikeout bool
}

// apply changes the style as an SGR sequence with these parameters does. Unknown parameters are skipped.
func (s Style) apply(params []int) Style {
	if len(params) == 0 {
		return Style{}
	}
	for i := 0; i < len(params); i++ {
		switch p := params[i]; {
		case p == 38 || p == 48:
			c, used := extended(params[i+1:])
			if p == 38 {
				s.Fg = c
			} else {
				s.Bg = c
			}
			i += used
		case p >= 30 && p <= 37:
			s.Fg = Color{Kind: ColorPalette, Index: uint8(p - 30)}
		case p >= 40 && p <= 47:
			s.Bg = Color{Kind: ColorPalette, Index: uint8(p - 40)}
		case p >= 90 && p <= 97:
			s.Fg = Color{Kind: ColorPalette, Index: uint8(p - 90 + 8)}
		case p >= 100 && p <= 107:
			s.Bg = Color{Kind: ColorPalette, Index: uint8(p - 100 + 8)}
		default:
			s = s.attribute(p)
		}
	}
	return s
}

func (s Style) attribute(p int) Style {
	switch p {
	case 0:
		return Style{}
	case 1:
		s.Bold = true
	case 2:
		s.Dim = true
	case 3:
		s.Italic = true
	case 4:
		s.Underline = true
	case 7:
		s.Reverse = true
	case 9:
		s.Strikeout = true
	case 22:
		s.Bold, s.Dim = false, false
	case 23:
		s.Italic = false
	case 24:
		s.Underline = false
	case 27:
		s.Reverse = false
	case 29:
		s.Strikeout = false
	case 39:
		s.Fg = Color{}
	case 49:
		s.Bg = Color{}
	}
	return s
}

// extended reads the colour after a 38 or 48 and returns the number of parameters that it used.
func extended(p []int) (c Color, used int) {
	switch {
	case len(p) >= 2 && p[0] == 5:
		return Color{Kind: ColorPalette, Index: uint8(p[1])}, 2
	case len(p) >= 4 && p[0] == 2:
		return Color{Kind: ColorRGB, R: uint8(p[1]), G: uint8(p[2]), B: uint8(p[3])}, 4
	}
	return Color{}, len(p)
}
