package screen

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gdamore/tcell/v2"
	"github.com/lucasb-eyer/go-colorful"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/view"
)

// The backgrounds that themes are made for: black and the usual dark ones, white and the usual light ones.
var (
	darkBackgrounds  = []int32{0x000000, 0x1e1e1e, 0x282c34, 0x002b36, 0x2e3440}
	lightBackgrounds = []int32{0xffffff, 0xfdf6e3, 0xeff1f5}
)

// contrast is the contrast ratio of WCAG.
func contrast(a, b tcell.Color) float64 {
	x, y := luminance(rgbOf(a)), luminance(rgbOf(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast: every colour of every theme is text somewhere, so each must be readable on each background that the theme is
// made for, in RGB and as one of 256 colours.
func TestContrast(t *testing.T) {
	for _, tt := range []struct {
		theme       settings.Theme
		background  background
		backgrounds []int32
		least       float64
	}{
		{settings.Dark, unknownBackground, darkBackgrounds, 4.5},
		{settings.Light, unknownBackground, lightBackgrounds, 4.5},
		{settings.Auto, darkBackground, darkBackgrounds, 4.5},
		{settings.Auto, lightBackground, lightBackgrounds, 4.5},
		{settings.HighContrast, unknownBackground, darkBackgrounds, 7},
		{settings.HighContrast, lightBackground, lightBackgrounds, 7},
		{settings.ColorBlind, darkBackground, darkBackgrounds, 4.5},
		{settings.ColorBlind, lightBackground, lightBackgrounds, 4.5},
	} {
		for _, shown := range []int{256, 1 << 24} {
			c := coloursFor(tt.theme, tt.background, shown)
			check := func(name string, s tcell.Color) {
				if shown == 256 && (s.IsRGB() || s < tcell.PaletteColor(16)) {
					t.Errorf("%s: %s is %v, which terminals with 256 colours do not have in common", tt.theme, name, s)
				}
				for _, b := range tt.backgrounds {
					if got := contrast(s, tcell.NewHexColor(b)); got < tt.least {
						t.Errorf("%s with %d colours: %s (#%06x) has a contrast of %.2f on #%06x, less than %.1f", tt.theme, shown, name, s.Hex(), got, b, tt.least)
					}
				}
			}
			for tone, name := range tones {
				fg, bg, attrs := c.styles[tone].Decompose()
				if bg != tcell.ColorDefault || attrs&tcell.AttrDim != 0 {
					t.Errorf("%s: the contrast of %s is not known", tt.theme, name)
				}
				if tone != view.Plain && tone != view.Strong {
					check(name, fg)
				}
			}
			for i, h := range c.hues {
				check(fmt.Sprintf("hue %d", i), h)
			}
		}
	}
}

var tones = map[view.Tone]string{view.Plain: "plain", view.Good: "good", view.Bad: "bad", view.Warn: "warn", view.Accent: "accent",
	view.Dim: "dim", view.Strong: "strong"}

// The simulations of colour vision without red cones (protanopia) and without green ones (deuteranopia), for linear RGB: Machado,
// Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009.
var blindness = map[string][3][3]float64{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

func seenWith(m [3][3]float64, c tcell.Color) colorful.Color {
	p := rgbOf(c)
	r, g, b := (colorful.Color{R: p[0], G: p[1], B: p[2]}).LinearRgb()
	in := [3]float64{r, g, b}
	var out [3]float64
	for i := range out {
		for j := range in {
			out[i] += m[i][j] * in[j]
		}
	}
	return colorful.LinearRgb(out[0], out[1], out[2]).Clamped()
}

// apart is the least difference of two colours that mean different things, in units of CIEDE2000. An eye can just distinguish
// touching colours that differ by one unit.
const apart = 12

// closest returns the two statuses whose colours differ least, and their difference.
func closest(c *colours, m [3][3]float64) (least float64, pair string) {
	least = 1000
	statuses := []view.Tone{view.Good, view.Bad, view.Warn, view.Accent}
	for i, a := range statuses {
		for _, b := range statuses[:i] {
			x, _, _ := c.styles[a].Decompose()
			y, _, _ := c.styles[b].Decompose()
			if d := 100 * seenWith(m, x).DistanceCIEDE2000(seenWith(m, y)); d < least {
				least, pair = d, tones[a]+" and "+tones[b]
			}
		}
	}
	return least, pair
}

// TestColorBlind: the colours of the statuses stay apart for people who cannot distinguish red from green. The colours of the
// other themes do not, which shows that the simulation can fail.
func TestColorBlind(t *testing.T) {
	for name, m := range blindness {
		for _, shown := range []int{8, 16, 256, 1 << 24} {
			for _, b := range []background{darkBackground, lightBackground} {
				if d, pair := closest(coloursFor(settings.ColorBlind, b, shown), m); d < apart {
					t.Errorf("%s, %d colours, background %d: %s differ by only %.1f", name, shown, b, pair, d)
				}
			}
		}
		if d, _ := closest(coloursFor(settings.Dark, darkBackground, 1<<24), m); d >= apart {
			t.Errorf("%s: the colours of the dark theme differ by %.1f", name, d)
		}
	}
}

// TestAuto: the background decides only where it is known and there are colours enough.
func TestAuto(t *testing.T) {
	for _, tt := range []struct {
		b     background
		shown int
		own   bool
	}{{unknownBackground, 1 << 24, true}, {darkBackground, 16, true}, {lightBackground, 8, true}, {darkBackground, 256, false}, {lightBackground, 1 << 24, false}} {
		for _, theme := range []settings.Theme{"", settings.Auto} {
			if got := coloursFor(theme, tt.b, tt.shown) == &ownColours; got != tt.own {
				t.Errorf("%+v: the terminal's own colours: %v", tt, got)
			}
		}
		if coloursFor(settings.Terminal, tt.b, tt.shown) != &ownColours {
			t.Errorf("%+v: the terminal's own colours were chosen", tt)
		}
	}
}

// TestFewColours: a terminal with sixteen colours, or with eight, gets no others.
func TestFewColours(t *testing.T) {
	for _, theme := range settings.Themes {
		for _, b := range []background{unknownBackground, darkBackground, lightBackground} {
			c := coloursFor(theme, b, 16)
			check := func(what string, col tcell.Color) {
				if col != tcell.ColorDefault && col > tcell.PaletteColor(15) {
					t.Errorf("%s on %d: %s is %v", theme, b, what, col)
				}
			}
			for tone, name := range tones {
				fg, _, _ := c.styles[tone].Decompose()
				check(name, fg)
			}
			for i, h := range c.hues {
				check(fmt.Sprint("hue ", i), h)
			}
		}
	}
}

// coloured is a terminal that shows a number of colours.
type coloured struct {
	simulated
	shown int
}

func (c coloured) Colors() int { return c.shown }

// TestThemes compares drawings with goldens that show the styles.
func TestThemes(t *testing.T) {
	for _, look := range []struct {
		name    string
		theme   settings.Theme
		fgbg    string
		shown   int
		noColor bool
	}{
		{"dark", settings.Auto, "15;0", 1 << 24, false},
		{"light", settings.Auto, "0;15", 1 << 24, false},
		{"terminal", settings.Auto, "", 1 << 24, false},
		{"high-contrast-dark", settings.HighContrast, "15;0", 1 << 24, false},
		{"high-contrast-light", settings.HighContrast, "0;15", 1 << 24, false},
		{"color-blind-dark", settings.ColorBlind, "15;0", 1 << 24, false},
		{"color-blind-light", settings.ColorBlind, "0;15", 1 << 24, false},
		{"dark-256", settings.Dark, "", 256, false},
		{"dark-16", settings.Dark, "", 16, false},
		{"none", settings.Dark, "", 1 << 24, true},
		{"none-vt100", settings.Dark, "", 0, false},
	} {
		for _, scene := range []struct {
			name string
			play func(d *driver)
		}{
			{"main", func(d *driver) { d.press("jjj") }},
			{"log", func(d *driver) { d.press("fmain<Enter>"); d.after(5 * frameTime) }},
			{"details", func(d *driver) { d.press("jj<Enter>") }},
		} {
			t.Run(look.name+"/"+scene.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := start(t, shop(t), newTerminal("UTF-8", 100, 24), func(d *driver, o *Options) {
						o.Terminal = coloured{d.term, look.shown}
						o.About = terminal.Description{Background: look.fgbg}
						o.Settings, o.NoColor = settings.Settings{Theme: look.theme}, look.noColor
					})
					d.after(phase)
					scene.play(d)
					d.goldenOf("themes/"+look.name+"-"+scene.name, d.styled())
					if err := d.stop(); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// styled is the text on the terminal, with the styles below each line: a letter for each column, which a legend explains.
func (d *driver) styled() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	cells, width, height := d.term.GetContents()
	known := map[tcell.Style]byte{tcell.StyleDefault: ' '}
	var legend, out strings.Builder
	text := strings.Split(d.text(), "\n")
	for y := range height {
		var marks strings.Builder
		for x := range width {
			style := cells[y*width+x].Style
			letter, ok := known[style]
			if !ok {
				letter = letters[len(known)-1]
				known[style] = letter
				fmt.Fprintf(&legend, "%c  %s\n", letter, describeStyle(style))
			}
			marks.WriteByte(letter)
		}
		fmt.Fprintf(&out, "│%s\n", text[y])
		if m := strings.TrimRight(marks.String(), " "); m != "" {
			fmt.Fprintf(&out, " %s\n", m)
		}
	}
	return out.String() + "\n" + legend.String()
}

func describeStyle(s tcell.Style) string {
	fg, bg, attrs := s.Decompose()
	words := []string{}
	for i, c := range []tcell.Color{fg, bg} {
		on := []string{"", "on "}[i]
		switch {
		case c == tcell.ColorDefault:
		case c.IsRGB():
			words = append(words, fmt.Sprintf("%s#%06x", on, c.Hex()))
		default:
			words = append(words, fmt.Sprintf("%scolour %d", on, c-tcell.ColorValid))
		}
	}
	for _, a := range []struct {
		name string
		mask tcell.AttrMask
	}{{"bold", tcell.AttrBold}, {"dim", tcell.AttrDim}, {"italic", tcell.AttrItalic}, {"underlined", tcell.AttrUnderline}, {"reverse", tcell.AttrReverse}} {
		if attrs&a.mask != 0 {
			words = append(words, a.name)
		}
	}
	return strings.Join(words, " ")
}
