package screen

import (
	"fmt"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/text"
)

// TestColoursOfProgramsAreReadable: every colour that a program can choose is readable on the terminal's background, if that is
// known.
func TestColoursOfProgramsAreReadable(t *testing.T) {
	for _, tt := range []struct {
		choice      settings.Theme
		background  background
		backgrounds []int32
	}{
		{settings.Auto, darkBackground, darkBackgrounds},
		{settings.Dark, unknownBackground, darkBackgrounds},
		{settings.Auto, lightBackground, lightBackgrounds},
		{settings.Light, unknownBackground, lightBackgrounds},
		{settings.Terminal, lightBackground, lightBackgrounds},
	} {
		look := dress{choice: tt.choice, shown: 1 << 24}.on(tt.background)
		check := func(code string) {
			fg, _, _ := look.foreign(text.Parse("\x1b[" + code + "mx")[0].Style).Decompose()
			if fg == tcell.ColorDefault {
				return
			}
			for _, b := range tt.backgrounds {
				if got := contrast(fg, tcell.NewHexColor(b)); got < 4.5 {
					t.Errorf("%s, background %d: ESC[%sm has a contrast of %.2f on #%06x", tt.choice, tt.background, code, got, b)
				}
			}
		}
		for i := 16; i < 256; i++ {
			check(fmt.Sprint("38;5;", i))
		}
		for _, rgb := range []string{"0;0;0", "255;255;255", "0;0;139", "255;255;224", "0;255;0", "120;120;120", "255;0;0", "0;0;255"} {
			check("38;2;" + rgb)
		}
	}
	own := func(b background, code string) tcell.Style {
		return dress{choice: settings.Auto, shown: 1 << 24}.on(b).foreign(text.Parse("\x1b[" + code + "mx")[0].Style)
	}
	plain, palette := tcell.StyleDefault, func(i int) tcell.Style { return tcell.StyleDefault.Foreground(tcell.PaletteColor(i)) }
	for _, tt := range []struct {
		background background
		code       string
		want       tcell.Style
	}{
		{lightBackground, "97", plain}, {lightBackground, "1;97", plain.Bold(true)}, {lightBackground, "37", plain.Dim(true)}, {lightBackground, "93", palette(3)},
		{darkBackground, "30", plain.Dim(true)}, {darkBackground, "90", plain.Dim(true)}, {darkBackground, "34", palette(12)}, {darkBackground, "97", palette(15)},
		{unknownBackground, "97", palette(15)}, {unknownBackground, "30", palette(0)},
		{lightBackground, "97;41", palette(15).Background(tcell.PaletteColor(1))}, {darkBackground, "30;42", palette(0).Background(tcell.PaletteColor(2))},
	} {
		if got := own(tt.background, tt.code); got != tt.want {
			t.Errorf("background %d: ESC[%sm is %v, want %v", tt.background, tt.code, got, tt.want)
		}
	}
}
