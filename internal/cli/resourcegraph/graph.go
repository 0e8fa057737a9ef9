// Package resourcegraph draws the resources of a project and what they depend on: for Graphviz, for Mermaid, and as a picture in SVG.
// Names and addresses come from the project, so every format escapes them.
package resourcegraph

import (
	"cmp"
	"net"
	"slices"
	"strconv"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Node is a resource, or an image that hone builds.
type Node struct {
	Name string
	// Kind is k8s, local, compose or image.
	Kind  string
	Links []model.Link
	// Status is the status of the resource in a running session; empty without one.
	Status string
}

// kindImage is the kind of an image. Resources have the types of the API.
const kindImage = "image"

// Edge goes from a node to another one that needs it. Starts is set if the other one waits for it; else it is made of it.
type Edge struct {
	From, To int
	Starts   bool
}

// Graph has its nodes in the order of the Tiltfile, each image before the first resource that uses it.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Of returns the graph of the enabled resources of a Tiltfile.
func Of(tf model.Tiltfile) Graph {
	var g Graph
	enabled := state.EnabledNames(tf)
	at := map[model.ManifestName]int{}
	images := map[string]int{}
	for _, m := range tf.Manifests {
		if enabled != nil && !enabled[m.Name] {
			continue
		}
		for _, im := range m.Images {
			if _, known := images[im.Ref]; known {
				continue
			}
			images[im.Ref] = g.add(Node{Name: im.Ref, Kind: kindImage})
			for _, base := range im.DependsOn {
				g.edge(images, base, images[im.Ref], false)
			}
		}
		at[m.Name] = g.add(Node{Name: string(m.Name), Kind: kind(m), Links: links(m)})
		for _, im := range m.Images {
			if !isBase(m, im.Ref) {
				g.edge(images, im.Ref, at[m.Name], false)
			}
		}
	}
	for _, m := range tf.Manifests {
		if to, ok := at[m.Name]; ok {
			for _, need := range m.ResourceDeps {
				if from, ok := at[need]; ok {
					g.Edges = append(g.Edges, Edge{from, to, true})
				}
			}
		}
	}
	return g
}

func (g *Graph) add(n Node) int {
	g.Nodes = append(g.Nodes, n)
	return len(g.Nodes) - 1
}

// edge adds an edge from an image, if it is one of the graph.
func (g *Graph) edge(images map[string]int, from string, to int, starts bool) {
	if at, ok := images[from]; ok {
		g.Edges = append(g.Edges, Edge{at, to, starts})
	}
}

// isBase reports whether an image is only the base of other images of a resource.
func isBase(m model.Manifest, ref string) bool {
	return slices.ContainsFunc(m.Images, func(im model.ImageTarget) bool { return slices.Contains(im.DependsOn, ref) })
}

func kind(m model.Manifest) string {
	switch {
	case m.IsLocal():
		return api.TypeLocal
	case m.IsCompose():
		return api.TypeCompose
	}
	return api.TypeK8s
}

// links returns the addresses of a resource: its ports on this machine, and those that the Tiltfile declares.
func links(m model.Manifest) []model.Link {
	var out []model.Link
	if m.K8s != nil {
		for _, f := range m.K8s.PortForwards {
			url := "http://" + net.JoinHostPort(cmp.Or(f.Host, "localhost"), strconv.Itoa(f.LocalPort)) + "/"
			out = append(out, model.Link{URL: url + f.LinkPath, Name: f.Name})
		}
		out = append(out, m.K8s.Links...)
	}
	if m.Local != nil {
		out = append(out, m.Local.Links...)
	}
	return append(out, m.Links...)
}

// Show adds the states of a running session.
func (g Graph) Show(v api.View) {
	for _, r := range v.Resources {
		for i, n := range g.Nodes {
			if n.Kind != kindImage && n.Name == r.Name {
				g.Nodes[i].Status = r.Status
			}
		}
	}
}

// colors are the fill and the border of a node by status. Every format also says the status in words.
var colors = map[string][2]string{
	"ok":       {"#e3f5e6", "#2e8540"},
	"warning":  {"#fdf3d8", "#b58100"},
	"failed":   {"#fbe3e3", "#c0392b"},
	"updating": {"#e1eefb", "#1f6fb2"},
	"waiting":  {"#f0f0f0", "#777777"},
}

// color returns the fill and the border of a node.
func (n Node) color() (fill, border string) {
	if c, ok := colors[n.Status]; ok {
		return c[0], c[1]
	}
	return "#ffffff", "#444444"
}

// says returns the second line of a node.
func (n Node) says() string {
	if n.Status == "" {
		return n.Kind
	}
	return n.Kind + ", " + n.Status
}
