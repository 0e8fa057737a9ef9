package docs

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Block is a block of code of a page. The word after the fence names its language, and the words after that tell a test how to use
// it:
//
//	python file=Tiltfile   it is the content of a file, which the reader writes
//	sh                     commands that the reader runs, in this order, and that succeed
//	sh fails               commands that fail
//	sh up                  commands that go on running beside the following ones, as in another terminal
//	sh until               commands that are run again until they print the following block
//	sh elsewhere="…"       commands that cannot run in a test, with the reason
//	needs=cargo            a program that the page needs on the reader's machine
//	text                   after commands: lines that they print, in this order; … stands for any text
//
// A block of another language, without these words, is only looked at.
type Block struct {
	Lang string
	// Words are the words after the language: file=Tiltfile.
	Words []string
	Text  string
	// Line is its first line in the page, from 1.
	Line int
}

// Value returns the value of a word such as file=NAME, and whether it is there.
func (b Block) Value(name string) (string, bool) {
	for _, w := range b.Words {
		if key, value, _ := strings.Cut(w, "="); key == name {
			return strings.Trim(value, `"`), true
		}
	}
	return "", false
}

// Blocks returns the blocks of code of a page.
func (p Page) Blocks() (out []Block) {
	_ = ast.Walk(parse(p.Text), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if c, ok := n.(*ast.FencedCodeBlock); ok && enter {
			out = append(out, blockOf(c, p.Text))
		}
		return ast.WalkContinue, nil
	})
	return out
}

func blockOf(c *ast.FencedCodeBlock, source []byte) Block {
	b := Block{}
	if c.Info != nil {
		words := fields(string(c.Info.Segment.Value(source)))
		if len(words) > 0 {
			b.Lang, b.Words = words[0], words[1:]
		}
		b.Line = 2 + strings.Count(string(source[:c.Info.Segment.Start]), "\n")
	}
	b.Text = lines(c, source)
	return b
}

// fields splits a line into words; quotes hold words together.
func fields(s string) []string {
	quoted := false
	return strings.FieldsFunc(s, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}

// lines returns the content of a block as it stands in the page.
func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		l := n.Lines().At(i)
		b.Write(l.Value(source))
	}
	return b.String()
}
