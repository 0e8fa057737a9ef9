//go:build linux

package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
)

// picture is the content of a terminal: its rows, each of the terminal's width.
type picture [][]text.Cell

// rowEnd stands for the end of a row while a capture is read, since colours continue across rows. No program prints it.
const rowEnd = "\ue000"

// read reads a capture with colours. Each row gets the given width.
func read(capture string, width int) picture {
	rows := picture{nil}
	used := 0
	for _, c := range text.Parse(strings.ReplaceAll(strings.TrimRight(capture, "\n"), "\n", rowEnd)) {
		last := len(rows) - 1
		switch {
		case c.Text == rowEnd:
			rows, used = append(rows, nil), 0
		case used+c.Width <= width:
			rows[last] = append(rows[last], c)
			used += c.Width
		}
	}
	return rows
}

// text returns the picture without colours.
func (p picture) text() string {
	var b strings.Builder
	for _, row := range p {
		b.WriteString(text.Plain(row) + "\n")
	}
	return b.String()
}

// The measures of a picture, in pixels.
const (
	cellWidth, cellHeight = 8.0, 18.0
	fontSize, baseline    = 13.0, 13.0
	margin, titleHeight   = 14.0, 34.0
	columns               = 120
)

// The colours of a picture. They are the colours of a dark terminal, which stands out on light pages and on dark ones.
const (
	foreground, background = "#e6edf3", "#0d1117"
	frame, bar, barText    = "#30363d", "#161b22", "#8b949e"
)

var palette = [16]string{"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
	"#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"}

func rgb(c text.Color, otherwise string) string {
	switch c.Kind {
	case text.ColorRGB:
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	case text.ColorPalette:
		return indexed(c.Index)
	case text.ColorDefault:
	}
	return otherwise
}

// indexed returns a colour of the palette of 256: sixteen colours, a cube of six shades each, 24 greys.
func indexed(i uint8) string {
	switch {
	case i < 16:
		return palette[i]
	case i < 232:
		shade := func(n uint8) uint8 {
			if n == 0 {
				return 0
			}
			return 55 + 40*n
		}
		n := i - 16
		return fmt.Sprintf("#%02x%02x%02x", shade(n/36), shade(n/6%6), shade(n%6))
	}
	grey := 8 + 10*(i-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}

// svg draws the picture in a window with a title.
func (p picture) svg(title string) string {
	w, h := columns*cellWidth+2*margin, titleHeight+float64(len(p))*cellHeight+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" role="img" aria-label="%s">`+"\n", w, h, w, h, html.EscapeString(title))
	fmt.Fprintf(&b, `<style>text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:%gpx;white-space:pre}</style>`+"\n", fontSize)
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%g" height="%g" rx="8" fill="%s" stroke="%s"/>`+"\n", w-1, h-1, background, frame)
	fmt.Fprintf(&b, `<path d="M1 26V8.5A7.5 7.5 0 0 1 8.5 1H%g A7.5 7.5 0 0 1 %g 8.5V26Z" fill="%s"/>`+"\n", w-8.5, w-1, bar)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="13.5" r="5" fill="%s"/>`+"\n", 18+18*i, color)
	}
	fmt.Fprintf(&b, `<text x="%g" y="18" text-anchor="middle" fill="%s">%s</text>`+"\n", w/2, barText, html.EscapeString(title))
	for y, row := range p {
		drawRow(&b, row, titleHeight+float64(y)*cellHeight)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// look is the appearance of a cell.
type look struct {
	fg, bg                         string // bg is empty for the background of the window
	bold, dim, italic, under, gone bool
}

func lookOf(s text.Style) look {
	l := look{rgb(s.Fg, foreground), rgb(s.Bg, ""), s.Bold, s.Dim, s.Italic, s.Underline, s.Strikeout}
	if s.Reverse {
		l.fg, l.bg = rgb(s.Bg, background), l.fg
	}
	return l
}

// drawRow draws a row whose upper edge is at y. Adjacent cells that look the same are drawn together. The width of each text is
// fixed, so that it fits its cells in every font; characters that fonts for programs may lack, or have in another width, stand
// alone in the middle of their cells, and lines are drawn as lines.
func drawRow(b *strings.Builder, row []text.Cell, y float64) {
	x := margin
	for i := 0; i < len(row); {
		l, k, kind := lookOf(row[i].Style), i+1, kindOf(row[i])
		cells := row[i].Width
		if kind != alone {
			for k < len(row) && kindOf(row[k]) == kind && lookOf(row[k].Style) == l && !(kind == words && gap(row, k)) {
				cells += row[k].Width
				k++
			}
		}
		w := float64(cells) * cellWidth
		if l.bg != "" {
			fmt.Fprintf(b, `<rect x="%g" y="%g" width="%g" height="%g" fill="%s"/>`+"\n", x, y, w, cellHeight, l.bg)
		}
		switch s := text.Plain(row[i:k]); kind {
		case ruled:
			fmt.Fprintf(b, `<path d="M%g %gh%g" stroke="%s"%s/>`+"\n", x, y+cellHeight/2, w, l.fg, l.opacity())
		case upright:
			fmt.Fprintf(b, `<path d="M%g %gv%g" stroke="%s"%s/>`+"\n", x+cellWidth/2, y, cellHeight, l.fg, l.opacity())
		case block:
			fmt.Fprintf(b, `<rect x="%g" y="%g" width="%g" height="%g" fill="%s"%s/>`+"\n", x, y, blockWidth(s)*cellWidth, cellHeight, l.fg, l.opacity())
		case alone:
			fmt.Fprintf(b, `<text x="%g" y="%g" text-anchor="middle"%s>%s</text>`+"\n", x+w/2, y+baseline, l.attributes(), html.EscapeString(s))
		case words:
			if inner := strings.TrimRight(s, " "); inner != "" {
				lead := len(inner) - len(strings.TrimLeft(inner, " "))
				inner = inner[lead:]
				fmt.Fprintf(b, `<text x="%g" y="%g" textLength="%g"%s>%s</text>`+"\n", x+float64(lead)*cellWidth, y+baseline,
					float64(columnsOf(inner))*cellWidth, l.attributes(), html.EscapeString(inner))
			}
		}
		x += w
		i = k
	}
}

// gap reports whether a wide gap begins at a cell: the text behind it is drawn separately, so that columns stay aligned.
func gap(row []text.Cell, i int) bool {
	return i > 0 && row[i-1].Text == " " && row[i].Text != " " && (i < 2 || row[i-2].Text == " ")
}

func columnsOf(s string) int {
	n := 0
	for _, c := range text.Parse(s) {
		n += c.Width
	}
	return n
}

// kind is the way in which a cell is drawn.
type kind uint8

const (
	words kind = iota
	alone
	ruled   // ─
	upright // │
	block   // ▌ and other blocks that fill their cell from the left
)

func kindOf(c text.Cell) kind {
	switch c.Text {
	case "─":
		return ruled
	case "│":
		return upright
	case "▌", "▏", "█":
		return block
	}
	if len(c.Text) == 1 {
		return words
	}
	return alone
}

// blockWidth returns how much of its cell a block fills.
func blockWidth(s string) float64 {
	switch r := []rune(s); r[0] {
	case '▌':
		return 0.5
	case '▏':
		return 0.125
	default:
		return float64(len(r))
	}
}

func (l look) opacity() string {
	if l.dim {
		return ` opacity="0.6"`
	}
	return ""
}

func (l look) attributes() string {
	s := ""
	if l.fg != "" {
		s += ` fill="` + l.fg + `"`
	}
	if l.bold {
		s += ` font-weight="bold"`
	}
	if l.italic {
		s += ` font-style="italic"`
	}
	switch {
	case l.under && l.gone:
		s += ` text-decoration="underline line-through"`
	case l.under:
		s += ` text-decoration="underline"`
	case l.gone:
		s += ` text-decoration="line-through"`
	}
	return s + l.opacity()
}
