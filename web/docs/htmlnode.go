package docs

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// toHTML lets links to pages lead to their HTML.
type toHTML struct{}

func (toHTML) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && enter {
			page, anchor, _ := strings.Cut(string(link.Destination), "#")
			if name, ok := strings.CutSuffix(page, ".md"); ok && !strings.Contains(page, "://") {
				link.Destination = []byte(strings.TrimSuffix(name+".html#"+anchor, "#"))
			}
		}
		return ast.WalkContinue, nil
	})
}

// blocks renders blocks of code, with the name of the file that they are.
type blocks struct{}

func (blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, enter bool) (ast.WalkStatus, error) {
		c, ok := n.(*ast.FencedCodeBlock)
		if !ok || !enter {
			return ast.WalkContinue, nil
		}
		b := blockOf(c, source)
		_, _ = w.WriteString("<figure>")
		if name, ok := b.Value("file"); ok {
			_, _ = w.WriteString("<figcaption>" + html.EscapeString(name) + "</figcaption>")
		}
		_, _ = w.WriteString(`<pre tabindex="0" data-lang="` + html.EscapeString(b.Lang) + `"><code>` + html.EscapeString(b.Text) + "</code></pre></figure>\n")
		return ast.WalkSkipChildren, nil
	})
}
