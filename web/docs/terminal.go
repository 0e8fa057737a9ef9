package docs

import (
	"path"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
)

// The widths of text in a terminal, in cells.
const (
	leastWidth = 40
	mostWidth  = 100
)

// Terminal returns the page as text for a terminal of the given width, in cells, with emphasis by escape sequences if styled. A
// link to another page becomes the command that shows it.
func (p Page) Terminal(width int, styled bool) string {
	t := &terminal{source: p.Text, topic: p.Topic, styled: styled}
	t.blocks(parse(p.Text), "", min(max(width, leastWidth), mostWidth))
	return strings.TrimLeft(t.out.String(), "\n")
}

// Contents returns the list of all pages by their topics, for a terminal of the given width, in cells.
func Contents(width int, styled bool) string {
	t := &terminal{styled: styled}
	widest := 0
	for _, p := range Pages()[1:] {
		widest = max(widest, len(p.Topic))
	}
	margin, group := strings.Repeat(" ", widest+4), ""
	for _, p := range Pages()[1:] {
		if p.Group != group {
			group = p.Group
			t.out.WriteString("\n" + t.style(bold, group) + "\n")
		}
		first := "  " + t.style(bold, p.Topic) + strings.Repeat(" ", widest-len(p.Topic)+2)
		for i, l := range wrap(p.Summary, max(min(width, mostWidth)-len(margin), leastWidth/2)) {
			if i > 0 {
				first = margin
			}
			t.out.WriteString(first + l + "\n")
		}
	}
	t.out.WriteString("\nhone docs TOPIC shows a page, hone docs --find WORDS searches all.\n")
	return strings.TrimLeft(t.out.String(), "\n")
}

type terminal struct {
	out    strings.Builder
	source []byte
	topic  string
	styled bool
}

// The styles are attributes without colours, which every terminal and every background has.
const (
	bold      = "\x1b[1m"
	faint     = "\x1b[2m"
	underline = "\x1b[4m"
	reset     = "\x1b[0m"
)

func (t *terminal) style(code, s string) string {
	if !t.styled || s == "" {
		return s
	}
	// Word by word, so that a line can be broken between them.
	return code + strings.ReplaceAll(s, " ", reset+" "+code) + reset
}

// blocks writes the children of a node, each line behind a margin.
func (t *terminal) blocks(n ast.Node, margin string, width int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t.block(c, margin, width)
	}
}

func (t *terminal) block(n ast.Node, margin string, width int) {
	switch n := n.(type) {
	case *ast.Heading:
		style := bold
		if n.Level == 1 {
			style += underline
		}
		t.out.WriteString("\n" + margin + t.style(style, plain(n, t.source)) + "\n")
	case *ast.Paragraph:
		if t.inline(n) == "" { // a picture
			return
		}
		t.out.WriteByte('\n')
		t.paragraph(n, margin, margin, width)
	case *ast.FencedCodeBlock:
		t.code(blockOf(n, t.source), margin)
	case *ast.CodeBlock:
		t.code(Block{Text: lines(n, t.source)}, margin)
	case *ast.List:
		t.out.WriteByte('\n')
		t.list(n, margin, width)
	case *ast.Blockquote:
		t.blocks(n, margin+"│ ", width)
	case *table.Table:
		t.out.WriteByte('\n')
		t.table(n, margin, width)
	case *ast.ThematicBreak:
		t.out.WriteString("\n" + margin + strings.Repeat("─", 10) + "\n")
	case *ast.HTMLBlock: // comments for editors of the page
	default:
		t.blocks(n, margin, width)
	}
}

// paragraph writes text that is broken into lines, the first of which has a margin of its own.
func (t *terminal) paragraph(n ast.Node, first, margin string, width int) {
	for i, l := range wrap(t.inline(n), max(width-ansi.StringWidth(margin), leastWidth/2)) {
		if i > 0 {
			first = margin
		}
		t.out.WriteString(strings.TrimRight(first+l, " ") + "\n")
	}
}

// wrap breaks text between words, and words that are wider than a line.
func wrap(s string, width int) (out []string) {
	for line := range strings.Lines(s) {
		at := ""
		for _, word := range strings.Fields(line) {
			switch {
			case at == "":
				at = word
			case ansi.StringWidth(at)+1+ansi.StringWidth(word) <= width:
				at += " " + word
				continue
			default:
				out = append(out, at)
				at = word
			}
			for ansi.StringWidth(at) > width {
				out = append(out, ansi.Truncate(at, width, ""))
				at = ansi.TruncateLeft(at, width, "")
			}
		}
		out = append(out, at)
	}
	return out
}

func (t *terminal) code(b Block, margin string) {
	t.out.WriteByte('\n')
	if name, ok := b.Value("file"); ok {
		t.out.WriteString(margin + "  " + t.style(faint, name) + "\n")
	}
	for l := range strings.Lines(b.Text) {
		t.out.WriteString(strings.TrimRight(margin+"    "+l, " \n") + "\n")
	}
}

func (t *terminal) list(n *ast.List, margin string, width int) {
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = string(rune('0'+number%10)) + ". "
			if number > 9 {
				mark = string(rune('0'+number/10)) + mark
			}
			number++
		}
		inner := margin + strings.Repeat(" ", ansi.StringWidth(mark))
		for i, b := 0, c.FirstChild(); b != nil; i, b = i+1, b.NextSibling() {
			switch b := b.(type) {
			case *ast.TextBlock, *ast.Paragraph:
				if i == 0 {
					t.paragraph(b, margin+mark, inner, width)
				} else {
					t.paragraph(b, inner, inner, width)
				}
			case *ast.List:
				t.list(b, inner, width)
			default:
				t.block(b, inner, width)
			}
		}
	}
}

// table writes a table, shrinking the widest columns until it fits the width.
func (t *terminal) table(n *table.Table, margin string, width int) {
	var rows [][]string
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cell := t.inline(c)
			if r.Kind() == table.KindTableHeader {
				cell = t.style(bold, cell)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	widths := columnWidths(rows, width-ansi.StringWidth(margin))
	for _, row := range rows {
		cells := make([][]string, len(row))
		height := 1
		for i, cell := range row {
			cells[i] = wrap(cell, widths[i])
			height = max(height, len(cells[i]))
		}
		for y := range height {
			line := margin
			for i := range cells {
				cell := ""
				if y < len(cells[i]) {
					cell = cells[i][y]
				}
				if i < len(cells)-1 {
					cell += strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(cell))+2)
				}
				line += cell
			}
			t.out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}

// columnWidths gives each column the width of its widest cell, and shrinks the widest columns until all fit.
func columnWidths(rows [][]string, width int) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastWidth/4 {
			break
		}
		widths[widest]--
	}
	return widths
}

// inline returns the text of a node with its emphasis.
func (t *terminal) inline(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(t.source))
			switch {
			case c.HardLineBreak():
				b.WriteByte('\n')
			case c.SoftLineBreak():
				b.WriteByte(' ')
			}
		case *ast.CodeSpan:
			b.WriteString(t.style(bold, plain(c, t.source)))
		case *ast.Emphasis:
			b.WriteString(t.style(underline, plain(c, t.source)))
		case *ast.Link:
			b.WriteString(t.link(c))
		case *ast.AutoLink:
			b.WriteString(t.style(underline, string(c.Label(t.source))))
		case *ast.Image, *ast.RawHTML:
		default:
			b.WriteString(t.inline(c))
		}
	}
	return b.String()
}

// link returns the text of a link, with the command or the address behind it.
func (t *terminal) link(n *ast.Link) string {
	label, to := t.inline(n), string(n.Destination)
	page, _, _ := strings.Cut(to, "#")
	switch name, isPage := strings.CutSuffix(page, ".md"); {
	case strings.Contains(to, "://"):
		if label != to {
			label += " <" + to + ">"
		}
	case isPage:
		topic := path.Join(path.Dir(t.topic), name)
		label += " (" + t.style(bold, "hone docs "+topic) + ")"
	}
	return label
}
