package screen

import (
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/view"
)

const (
	// hueCount is the number of hues that distinguish names.
	hueCount = 9
	// hueFamilies is the number of families of hues: two hues whose numbers differ by it look alike.
	hueFamilies = 5
)

// background describes the background of a terminal.
type background uint8

const (
	unknownBackground background = iota
	darkBackground
	lightBackground
)

// scheme is a theme for one kind of background. It never sets the background: that is the terminal's.
type scheme struct {
	good, bad, warn, accent, dim tcell.Color
	// hues are first one form of each family, then the other one, except the last family's. Red is reserved for errors.
	hues [hueCount]tcell.Color
	// bold is set if tones are also bold.
	bold bool
	// least and most bound the luminance of readable text on the backgrounds that the scheme is made for.
	least, most float64
}

// Readable luminances on backgrounds as light as Nord's, or as dark as Catppuccin's light one, with a contrast of 4.5 or of 7.
const (
	readableOnDark, clearOnDark   = 0.329, 0.540
	readableOnLight, clearOnLight = 0.155, 0.082
)

// styles returns the styles of the scheme, with its colours as a terminal shows them.
func (s scheme) styles(as func(tcell.Color) tcell.Color) *colours {
	out := &colours{}
	for tone, c := range map[view.Tone]tcell.Color{view.Plain: tcell.ColorDefault, view.Strong: tcell.ColorDefault, view.Good: s.good,
		view.Bad: s.bad, view.Warn: s.warn, view.Accent: s.accent, view.Dim: s.dim} {
		style := tcell.StyleDefault.Foreground(as(c))
		switch tone {
		case view.Strong, view.Bad:
			style = style.Bold(true)
		case view.Good, view.Warn, view.Accent:
			style = style.Bold(s.bold)
		case view.Dim:
			style = style.Dim(s.dim == tcell.ColorDefault)
		case view.Plain:
		}
		out.styles[tone] = style
	}
	for i, c := range s.hues {
		out.hues[i] = as(c)
	}
	return out
}

// hex returns hues by their RGB values.
func hex(list string) (out [hueCount]tcell.Color) {
	for i, s := range strings.Fields(list) {
		n, err := strconv.ParseInt(s, 16, 32)
		if err != nil || i >= hueCount {
			panic("bad hues: " + list) // a constant of this file
		}
		out[i] = tcell.NewHexColor(int32(n))
	}
	return out
}

// The themes in RGB. Their contrast is tested.
var (
	darkScheme = scheme{good: tcell.NewHexColor(0x7ec97e), bad: tcell.NewHexColor(0xff8b85), warn: tcell.NewHexColor(0xe5c07b),
		accent: tcell.NewHexColor(0x5fc9d6), dim: tcell.NewHexColor(0xa8adb7),
		least: readableOnDark, most: 1,
		hues: hex("8fd18f 8ab4f8 d7a0e8 6fd0d0 d8c06a bdeab0 b9d2ff f0c6f5 aeeaf0")}
	lightScheme = scheme{good: tcell.NewHexColor(0x1a7030), bad: tcell.NewHexColor(0xb3261e), warn: tcell.NewHexColor(0x7f5200),
		accent: tcell.NewHexColor(0x00687a), dim: tcell.NewHexColor(0x5f6570),
		most: readableOnLight,
		hues: hex("2b722b 1f5fbf 8e3fa8 006d75 7a6200 0f4f1a 12336e 5a1f6e 0b4650")}
	contrastDark = scheme{good: tcell.NewHexColor(0x9dff9d), bad: tcell.NewHexColor(0xffb8b3), warn: tcell.NewHexColor(0xffe08a),
		accent: tcell.NewHexColor(0x9df0ff), dim: tcell.NewHexColor(0xd0d4dc), bold: true,
		least: clearOnDark, most: 1,
		hues: hex("a8f0a8 b9d2ff f0c6f5 9af0f0 f0dc8c d0ffc8 dce8ff ffe0ff d0ffff")}
	contrastLight = scheme{good: tcell.NewHexColor(0x0b4f1a), bad: tcell.NewHexColor(0x8a0f0f), warn: tcell.NewHexColor(0x5a3a00),
		accent: tcell.NewHexColor(0x004a66), dim: tcell.NewHexColor(0x41454c), bold: true,
		most: clearOnLight,
		hues: hex("14501a 14418c 6a2080 00494f 524200 083810 0c2450 3f124c 06303a")}
	// Blue and orange instead of green and red: they, yellow and violet stay apart without red or green cones.
	blindDark = scheme{good: tcell.NewHexColor(0x6aa9f5), bad: tcell.NewHexColor(0xff9550), warn: tcell.NewHexColor(0xf7ee70),
		accent: tcell.NewHexColor(0xe6dcff), dim: tcell.NewHexColor(0xa5a9b0),
		least: readableOnDark, most: 1,
		hues: hex("8ab4f8 f0b070 e6d96a d0b0e8 8fd6c8 b9d2ff ffd9b0 fff5b0 ecdcfa")}
	blindLight = scheme{good: tcell.NewHexColor(0x0b5fc0), bad: tcell.NewHexColor(0x6e1600), warn: tcell.NewHexColor(0x806c00),
		accent: tcell.NewHexColor(0x3a1f7a), dim: tcell.NewHexColor(0x666a70),
		most: readableOnLight,
		hues: hex("1f5fbf 8a4a00 6b5e00 6e3f96 006b5c 12336e 5a2f00 463c00 47205f")}
)

// The themes of terminals with fewer than 256 colours. The terminal chooses how the colours look, so grey is not used
// for text: some terminals show it in the colour of the background.
var (
	sixteenHues = [hueCount]tcell.Color{tcell.ColorGreen, tcell.ColorNavy, tcell.ColorPurple, tcell.ColorTeal, tcell.ColorOlive,
		tcell.ColorLime, tcell.ColorBlue, tcell.ColorFuchsia, tcell.ColorAqua}
	// without navy and green: they are hard to read on black, and there are not nine others.
	brightHues = [hueCount]tcell.Color{tcell.ColorLime, tcell.ColorBlue, tcell.ColorFuchsia, tcell.ColorAqua, tcell.ColorYellow,
		tcell.ColorGreen, tcell.ColorTeal, tcell.ColorPurple, tcell.ColorSilver}
	deepHues = [hueCount]tcell.Color{tcell.ColorGreen, tcell.ColorNavy, tcell.ColorPurple, tcell.ColorTeal, tcell.ColorOlive,
		tcell.ColorGreen, tcell.ColorBlue, tcell.ColorFuchsia, tcell.ColorTeal}

	ownScheme = scheme{good: tcell.ColorGreen, bad: tcell.ColorMaroon, warn: tcell.ColorOlive, accent: tcell.ColorTeal, hues: sixteenHues}

	brightSixteen = scheme{good: tcell.ColorLime, bad: tcell.ColorRed, warn: tcell.ColorYellow, accent: tcell.ColorAqua, hues: brightHues}
	deepSixteen   = scheme{good: tcell.ColorGreen, bad: tcell.ColorMaroon, warn: tcell.ColorOlive, accent: tcell.ColorTeal, hues: deepHues}
	brightBlind   = scheme{good: tcell.ColorAqua, bad: tcell.ColorFuchsia, warn: tcell.ColorYellow, accent: tcell.ColorSilver, hues: brightHues}
	deepBlind     = scheme{good: tcell.ColorNavy, bad: tcell.ColorMaroon, warn: tcell.ColorOlive, accent: tcell.ColorTeal, hues: deepHues}
)

// ownColours are the colours of settings.Terminal.
var ownColours = *ownScheme.styles(func(c tcell.Color) tcell.Color { return c })

// cube returns the readable ones of the colours that all terminals with 256 colours show alike: the first sixteen are the user's.
func (s scheme) cube() (out []tcell.Color) {
	for i := 16; i < 256; i++ {
		c := tcell.PaletteColor(i)
		if l := luminance(rgbOf(c)); l >= s.least && l <= s.most {
			out = append(out, c)
		}
	}
	return out
}

func rgbOf(c tcell.Color) [3]float64 {
	r, g, b := c.RGB()
	return [3]float64{float64(r) / 255, float64(g) / 255, float64(b) / 255}
}

// coloursFor returns the colours of a theme for a terminal that shows a number of colours.
func coloursFor(t settings.Theme, b background, shown int) *colours {
	light := b == lightBackground
	pick := func(onDark, onLight scheme) scheme {
		if light {
			return onLight
		}
		return onDark
	}
	few := shown < 256
	var s scheme
	switch t {
	case settings.Dark:
		s, light = darkScheme, false
	case settings.Light:
		s, light = lightScheme, true
	case settings.HighContrast:
		s = pick(contrastDark, contrastLight)
	case settings.ColorBlind:
		s = pick(blindDark, blindLight)
	case settings.Terminal:
		return &ownColours
	default: // settings.Auto
		if b == unknownBackground || few {
			return &ownColours
		}
		s = pick(darkScheme, lightScheme)
	}
	if few {
		bold := s.bold
		s = pick(brightSixteen, deepSixteen)
		if t == settings.ColorBlind {
			s = pick(brightBlind, deepBlind)
		}
		s.bold = bold
	}
	if few || shown > 256 {
		return s.styles(func(c tcell.Color) tcell.Color { return c })
	}
	cube := s.cube()
	return s.styles(func(c tcell.Color) tcell.Color {
		if c.IsRGB() {
			return tcell.FindColor(c, cube)
		}
		return c
	})
}

// dress is the look of a screen that the user has chosen.
type dress struct {
	choice settings.Theme
	shown  int // colours of the terminal
	theme  theme
}

// on returns the theme on a background.
func (d dress) on(b background) theme {
	t := d.theme
	t.colours = coloursFor(d.choice, b, d.shown)
	switch d.choice { // the user may know it better
	case settings.Dark:
		b = darkBackground
	case settings.Light:
		b = lightBackground
	default: // as the terminal says
	}
	t.background = b
	t.noColor = t.noColor || d.shown == 0 // tcell would reverse dark colours
	return t
}

// wear changes the theme of everything that is drawn.
func (u *ui) wear(t theme) {
	u.theme, u.table.theme, u.log.theme = t, t, t
	u.log.wear(t)
}
