package text

import (
	"strconv"
	"strings"
)

// noStyle ends all styles.
const noStyle = "\x1b[0m"

// ANSI renders cells for a terminal, with colours as escape sequences. The result leaves the terminal's style unchanged.
func ANSI(cells []Cell) string {
	var b strings.Builder
	var now Style
	for _, c := range cells {
		if c.Style != now {
			b.WriteString(c.Style.sequence())
			now = c.Style
		}
		b.WriteString(c.Text)
	}
	if now != (Style{}) {
		b.WriteString(noStyle)
	}
	return b.String()
}

// Paint renders s in one style for a terminal.
func Paint(s string, style Style) string {
	if style == (Style{}) || s == "" {
		return s
	}
	return style.sequence() + s + noStyle
}

// sequence returns the escape sequence that sets the style, regardless of the current one.
func (s Style) sequence() string {
	params := []string{"0"}
	for _, a := range []struct {
		set  bool
		code string
	}{{s.Bold, "1"}, {s.Dim, "2"}, {s.Italic, "3"}, {s.Underline, "4"}, {s.Reverse, "7"}, {s.Strikeout, "9"}} {
		if a.set {
			params = append(params, a.code)
		}
	}
	params = append(params, s.Fg.codes("38")...)
	params = append(params, s.Bg.codes("48")...)
	return "\x1b[" + strings.Join(params, ";") + "m"
}

func (c Color) codes(layer string) []string {
	number := func(n uint8) string { return strconv.Itoa(int(n)) }
	switch c.Kind {
	case ColorPalette:
		if c.Index < 8 {
			return []string{layer[:1] + number(c.Index)}
		}
		return []string{layer, "5", number(c.Index)}
	case ColorRGB:
		return []string{layer, "2", number(c.R), number(c.G), number(c.B)}
	case ColorDefault: // the terminal has it after the reset
	}
	return nil
}
