package resourcegraph

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
)

// Dot writes the graph for Graphviz.
func (g Graph) Dot(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph resources {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", style=filled];\n")
	for i, n := range g.Nodes {
		shape := "box"
		if n.Kind == kindImage {
			shape = "ellipse"
		}
		fill, border := n.color()
		fmt.Fprintf(&b, "  n%d [shape=%s, fillcolor=\"%s\", color=\"%s\", label=%s", i, shape, fill, border, dotText(n.Name, n.says()))
		if u := n.link(); u != "" {
			fmt.Fprintf(&b, ", URL=%s", dotText(u))
		}
		b.WriteString("];\n")
	}
	for _, e := range g.Edges {
		style := ""
		if !e.Starts {
			style = " [style=dashed]"
		}
		fmt.Fprintf(&b, "  n%d -> n%d%s;\n", e.From, e.To, style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// dotText returns lines as a quoted string of Graphviz.
func dotText(lines ...string) string {
	for i, l := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text.Clean(l))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

// Mermaid writes the graph as a flowchart of Mermaid.
func (g Graph) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, n := range g.Nodes {
		open, closed := "[", "]"
		if n.Kind == kindImage {
			open, closed = "([", "])"
		}
		fmt.Fprintf(&b, "  n%d%s\"%s<br/>%s\"%s\n", i, open, mermaidText(n.Name), mermaidText(n.says()), closed)
		if n.Status != "" {
			fill, border := n.color()
			fmt.Fprintf(&b, "  style n%d fill:%s,stroke:%s,color:#222222\n", i, fill, border)
		}
		if u := n.link(); u != "" {
			fmt.Fprintf(&b, "  click n%d href \"%s\"\n", i, strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E").Replace(u))
		}
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if !e.Starts {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", e.From, arrow, e.To)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mermaidText returns a text for a quoted label, in which Mermaid reads HTML, Markdown and codes of characters.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range text.Clean(s) {
		if strings.ContainsRune("\"#&<>`*_\\;[]{}()|", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// link returns the first address of a node that a browser may open; empty if there is none.
func (n Node) link() string {
	for _, l := range n.Links {
		if strings.HasPrefix(l.URL, "http://") || strings.HasPrefix(l.URL, "https://") {
			return text.Clean(l.URL)
		}
	}
	return ""
}
