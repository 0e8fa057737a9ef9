package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"
)

const (
	// tabStop is the distance of tab stops in columns.
	tabStop = 8
	escape  = 0x1b
	// mostParameters bounds the parameters of a sequence that count.
	mostParameters = 32
)

// Cell is one grapheme, the content of one position of the screen, one or two columns wide.
type Cell struct {
	Text  string
	Width int
	Style Style
}

// Parse turns a line of a program's output into cells: colours are kept, tabs become spaces, a carriage return discards the
// text before it, and all other control characters and escape sequences are dropped. Invalid UTF-8 becomes replacement
// characters.
func Parse(line string) []Cell {
	p := parser{rest: line, cells: make([]Cell, 0, len(line))}
	for p.rest != "" {
		p.step()
	}
	return p.cells
}

// ParseTabs is like Parse but keeps tabs, for output that is printed rather than laid out.
func ParseTabs(line string) []Cell {
	p := parser{rest: line, cells: make([]Cell, 0, len(line)), tabs: true}
	for p.rest != "" {
		p.step()
	}
	return p.cells
}

type parser struct {
	rest   string
	tabs   bool // are kept
	cells  []Cell
	column int
	style  Style
	// returned is set after a carriage return: the next cell starts the line over.
	returned bool
	ansi     *ansi.Parser
}

func (p *parser) step() {
	c := p.rest[0]
	switch {
	case c == escape, c == 0xc2 && startsC1(p.rest):
		p.sequence()
	case c == '\t' && p.tabs:
		p.add("\t", tabStop-p.column%tabStop)
		p.rest = p.rest[1:]
	case c == '\t':
		for n := tabStop - p.column%tabStop; n > 0; n-- {
			p.add(" ", 1)
		}
		p.rest = p.rest[1:]
	case c == '\r':
		p.returned = true
		p.rest = p.rest[1:]
	case c < ' ' || c == 0x7f:
		p.rest = p.rest[1:]
	case c < utf8.RuneSelf && (len(p.rest) == 1 || p.rest[1] < utf8.RuneSelf):
		p.add(p.rest[:1], 1)
		p.rest = p.rest[1:]
	default:
		p.grapheme()
	}
}

// startsC1 reports whether s begins with a C1 control.
func startsC1(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(c1, r)
}

// sequence consumes an escape sequence or a C1 control, and applies the style that it sets.
func (p *parser) sequence() {
	if p.rest[0] != escape { // a two-byte C1 control
		p.rest = p.rest[2:]
		return
	}
	if p.ansi == nil {
		p.ansi = newColors()
	}
	seq, _, n, _ := ansi.DecodeSequence(p.rest, ansi.NormalState, p.ansi)
	p.rest = p.rest[max(n, 1):]
	whole := strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") // else the command is an earlier one
	if whole && p.ansi.Command() == setsStyle {
		p.style = p.style.apply(parameters(p.ansi.Params()))
	}
}

// setsStyle is the command of a sequence that sets colours and other properties of the text: its final byte, with neither a prefix
// nor an intermediate byte.
const setsStyle = 'm'

// newColors returns a parser for the parameters of colours. The package's own constructor takes 64 KB for strings, which are dropped here.
func newColors() *ansi.Parser {
	p := &ansi.Parser{}
	p.SetParamsSize(mostParameters)
	p.SetDataSize(1)
	return p
}

func parameters(params ansi.Params) []int {
	out := make([]int, len(params))
	for i, param := range params {
		out[i] = param.Param(0)
	}
	return out
}

func (p *parser) grapheme() {
	cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(p.rest, -1)
	p.rest = rest
	if width == 0 { // a combining mark without a base character
		return
	}
	p.add(strings.ToValidUTF8(cluster, "\uFFFD"), width)
}

func (p *parser) add(s string, width int) {
	if p.returned {
		p.cells, p.column, p.returned = p.cells[:0], 0, false
	}
	p.cells = append(p.cells, Cell{s, width, p.style})
	p.column += width
}

// Plain returns the text of cells without styles.
func Plain(cells []Cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.Text)
	}
	return b.String()
}

// Clean returns a line without any control characters and escape sequences, as Parse reads it.
func Clean(line string) string {
	if printable(line) {
		return line
	}
	return Plain(Parse(line))
}

// CleanTabs is like Clean but keeps tabs.
func CleanTabs(line string) string {
	if printable(line) {
		return line
	}
	return Plain(ParseTabs(line))
}

// printable reports whether Parse would change nothing about a line of plain ASCII.
func printable(line string) bool {
	for i := range len(line) {
		if line[i] < ' ' || line[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Wrap splits cells into one or more rows of at most width columns. It breaks after a space if there is one in the last third
// of a row. A cell that is wider than a row gets a row of its own.
func Wrap(cells []Cell, width int) [][]Cell {
	width = max(width, 1)
	var rows [][]Cell
	start, used, breakAt := 0, 0, 0
	for i := 0; i < len(cells); i++ {
		c := cells[i]
		if used+c.Width > width && i > start {
			end := i
			if breakAt > start && c.Text != " " {
				end = breakAt
			}
			rows = append(rows, cells[start:end])
			start, breakAt, used = end, 0, columns(cells[end:i])
		}
		used += c.Width
		if c.Text == " " && used > width*2/3 {
			breakAt = i + 1
		}
	}
	return append(rows, cells[start:])
}

func columns(cells []Cell) int {
	n := 0
	for _, c := range cells {
		n += c.Width
	}
	return n
}
