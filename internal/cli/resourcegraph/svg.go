package resourcegraph

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
)

// The sizes of the picture, in pixels.
const (
	boxWidth, boxHeight = 190, 44
	columnGap, rowGap   = 70, 18
	margin              = 16
	// longest is the most characters of a name that fit into a box.
	longest = 24
)

// SVG writes the graph as a picture that needs nothing else: no script, no style sheet, no font.
func (g Graph) SVG(w io.Writer) error {
	l := lay(len(g.Nodes), g.Edges)
	width := 2*margin + l.layers*(boxWidth+columnGap) - columnGap
	height := 2*margin + l.rows*(boxHeight+rowGap) - rowGap
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="13">`+"\n",
		max(width, 2*margin), max(height, 2*margin))
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z" fill="#666666"/></marker></defs>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for i, e := range g.Edges {
		dash := ""
		if !e.Starts {
			dash = ` stroke-dasharray="5 4"`
		}
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#666666"%s marker-end="url(#tip)"/>`+"\n", way(l.places[e.From], l.bends[i], l.places[e.To]), dash)
	}
	for i, n := range g.Nodes {
		n.draw(&b, l.places[i])
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// corner returns the upper left corner of the box at a place.
func (p place) corner() (x, y float64) {
	return margin + p.layer*(boxWidth+columnGap), margin + p.row*(boxHeight+rowGap)
}

// way returns the path of an edge from the right side of a box to the left side of another one. It passes layers at their bends.
func way(from place, bends []place, to place) string {
	x, y := from.corner()
	x, y = x+boxWidth, y+boxHeight/2
	path := fmt.Sprintf("M%.0f,%.0f", x, y)
	curve := func(toX, toY float64) {
		half := (x + toX) / 2
		path += fmt.Sprintf("C%.0f,%.0f %.0f,%.0f %.0f,%.0f", half, y, half, toY, toX, toY)
		x, y = toX, toY
	}
	for _, p := range append(bends, to) {
		left, top := p.corner()
		curve(left, top+boxHeight/2)
		if p != to {
			x += boxWidth
			path += fmt.Sprintf("H%.0f", x)
		}
	}
	return path
}

// draw writes a node, which leads to its first address.
func (n Node) draw(b *strings.Builder, at place) {
	x, y := at.corner()
	fill, border := n.color()
	round := 4
	if n.Kind == kindImage {
		round = boxHeight / 2
	}
	link := n.link()
	if link != "" {
		fmt.Fprintf(b, `<a href="%s">`, escaped(link))
	}
	fmt.Fprintf(b, `<g><title>%s: %s</title><rect x="%.0f" y="%.0f" width="%d" height="%d" rx="%d" fill="%s" stroke="%s"/>`,
		escaped(n.Name), escaped(n.says()), x, y, boxWidth, boxHeight, round, fill, border)
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="middle" fill="#222222">%s</text>`, x+boxWidth/2, y+19, escaped(shortened(n.Name)))
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="middle" font-size="11" fill="#555555">%s</text></g>`, x+boxWidth/2, y+35, escaped(n.says()))
	if link != "" {
		b.WriteString("</a>")
	}
	b.WriteString("\n")
}

// shortened returns a name that fits into a box; the end of a name tells more than its middle.
func shortened(name string) string {
	r := []rune(name)
	if len(r) <= longest {
		return name
	}
	return string(r[:longest/2]) + "…" + string(r[len(r)-longest/2+1:])
}

// escaped returns a text for XML, without characters that XML does not have.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text.Clean(s)))
	return b.String()
}
