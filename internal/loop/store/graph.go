package store

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Graph is the architecture as the contracts declare it: subscribers, tables, actions and outside systems.
type Graph struct {
	Subscribers []GraphSubscriber `json:"subscribers"`
	Tables      []GraphTable      `json:"tables"`
	Edges       []GraphEdge       `json:"edges"`
}

// GraphSubscriber is a subscriber in the graph.
type GraphSubscriber struct {
	Name      string      `json:"name"`
	Doc       string      `json:"doc"`
	Stage     int         `json:"stage"`
	Externals []string    `json:"externals,omitempty"`
	Calls     []GraphCall `json:"calls,omitempty"`
	Feedback  string      `json:"feedback,omitempty"`
}

// GraphCall is a direct call of another subscriber.
type GraphCall struct {
	To  string `json:"to"`
	Doc string `json:"doc"`
}

// GraphTable is a table in the graph.
type GraphTable struct {
	Name       string `json:"name"`
	Doc        string `json:"doc"`
	Finalizers bool   `json:"finalizers,omitempty"`
}

// GraphEdge goes from a table to its reader or to a table that follows it, from a subscriber to a table through an action,
// from a subscriber to another one that it calls, or between a subscriber and an outside system.
type GraphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Kind is reads, holds, emits, follows, calls or external.
	Kind   string `json:"kind"`
	Action string `json:"action,omitempty"`
}

// NewGraph returns the graph of the contracts.
func NewGraph(schema *Schema, contracts []Contract) Graph {
	var g Graph
	for _, t := range schema.tables {
		g.Tables = append(g.Tables, GraphTable{t.name, t.doc, t.finalizers})
	}
	for _, f := range schema.follows {
		g.Edges = append(g.Edges, GraphEdge{From: "table:" + f.source, To: "table:" + f.table, Kind: "follows"})
	}
	for _, c := range contracts {
		var calls []GraphCall
		for _, call := range c.Calls {
			calls = append(calls, GraphCall(call))
			g.Edges = append(g.Edges, GraphEdge{From: c.Name, To: call.To, Kind: "calls"})
		}
		g.Subscribers = append(g.Subscribers, GraphSubscriber{c.Name, c.Doc, int(c.Stage), c.Externals, calls, c.Feedback})
		for _, in := range c.Inputs {
			kind := "reads"
			if in.Strong {
				kind = "holds"
			}
			g.Edges = append(g.Edges, GraphEdge{From: "table:" + in.Table, To: c.Name, Kind: kind})
		}
		for _, o := range c.Outputs {
			for _, table := range schema.accepts[o.Action] {
				g.Edges = append(g.Edges, GraphEdge{From: c.Name, To: "table:" + table, Kind: "emits", Action: o.Action.String()})
			}
		}
		for _, e := range c.Externals {
			g.Edges = append(g.Edges, GraphEdge{From: c.Name, To: "external:" + e, Kind: "external"})
		}
	}
	return g
}

// JSON writes the graph as one JSON document.
func (g Graph) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(g)
}

// externals returns the outside systems, sorted.
func (g Graph) externals() []string {
	var out []string
	for _, s := range g.Subscribers {
		out = append(out, s.Externals...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// merged joins the edges between the same two nodes, with all their actions as one label.
func (g Graph) merged() []GraphEdge {
	var out []GraphEdge
	for _, e := range g.Edges {
		i := slices.IndexFunc(out, func(o GraphEdge) bool { return o.From == e.From && o.To == e.To && o.Kind == e.Kind })
		if i < 0 {
			out = append(out, e)
		} else {
			out[i].Action += "\n" + e.Action
		}
	}
	return out
}

// Dot writes the graph for Graphviz.
func (g Graph) Dot(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph hone {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n")
	for _, s := range g.Subscribers {
		fmt.Fprintf(&b, "  %q [shape=box, style=rounded, tooltip=%q];\n", s.Name, s.Doc)
	}
	for _, t := range g.Tables {
		fmt.Fprintf(&b, "  %q [shape=cylinder, label=%q, tooltip=%q];\n", "table:"+t.Name, t.Name, t.Doc)
	}
	for _, e := range g.externals() {
		fmt.Fprintf(&b, "  %q [shape=box3d, label=%q];\n", "external:"+e, e)
	}
	for _, e := range g.merged() {
		switch e.Kind {
		case "reads":
			fmt.Fprintf(&b, "  %q -> %q;\n", e.From, e.To)
		case "holds":
			fmt.Fprintf(&b, "  %q -> %q [style=bold];\n", e.From, e.To)
		case "emits":
			fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", e.From, e.To, e.Action)
		case "follows":
			fmt.Fprintf(&b, "  %q -> %q [style=dotted];\n", e.From, e.To)
		case "calls":
			fmt.Fprintf(&b, "  %q -> %q [style=dashed, label=\"calls\"];\n", e.From, e.To)
		case "external":
			fmt.Fprintf(&b, "  %q -> %q [dir=both, style=dashed];\n", e.From, e.To)
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Mermaid writes the graph as a Mermaid flowchart.
func (g Graph) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	id := func(name string) string {
		return strings.NewReplacer(":", "_", "-", "_", " ", "_", ".", "_").Replace(name)
	}
	for _, s := range g.Subscribers {
		fmt.Fprintf(&b, "  %s(%s)\n", id(s.Name), s.Name)
	}
	for _, t := range g.Tables {
		fmt.Fprintf(&b, "  %s[(%s)]\n", id("table:"+t.Name), t.Name)
	}
	for _, e := range g.externals() {
		fmt.Fprintf(&b, "  %s{{%s}}\n", id("external:"+e), e)
	}
	for _, e := range g.merged() {
		from, to := id(e.From), id(e.To)
		switch e.Kind {
		case "reads":
			fmt.Fprintf(&b, "  %s --> %s\n", from, to)
		case "holds":
			fmt.Fprintf(&b, "  %s ==> %s\n", from, to)
		case "emits":
			fmt.Fprintf(&b, "  %s -- %s --> %s\n", from, strings.ReplaceAll(e.Action, "\n", ", "), to)
		case "follows":
			fmt.Fprintf(&b, "  %s -.-> %s\n", from, to)
		case "calls":
			fmt.Fprintf(&b, "  %s -. calls .-> %s\n", from, to)
		case "external":
			fmt.Fprintf(&b, "  %s -.- %s\n", from, to)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
