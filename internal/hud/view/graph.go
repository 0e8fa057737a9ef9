package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// graphTab draws the resources that a resource depends on, and the ones that depend on it, with the images that it shares and the
// files that it watches.
func (b *builder) graphTab(m model.Manifest) Tab {
	p := page{now: b.now}
	g := b.graph()
	p.title("depends on")
	if len(m.ResourceDeps) == 0 {
		p.add(2, Span{"  nothing", Dim})
	}
	g.tree(&p, m.Name, g.needs)
	p.title("needed by")
	if len(g.neededBy[m.Name]) == 0 {
		p.add(2, Span{"  nothing", Dim})
	}
	g.tree(&p, m.Name, g.neededBy)
	b.imageLines(&p, m)
	b.watchLines(&p, m)
	return Tab{Kind: TabGraph, Title: "graph", Lines: p.lines}
}

// graph is the dependencies between resources.
type graph struct {
	rows            map[model.ManifestName]Row
	needs, neededBy map[model.ManifestName][]model.ManifestName
}

func (b *builder) graph() graph {
	g := graph{rows: map[model.ManifestName]Row{}, needs: map[model.ManifestName][]model.ManifestName{}, neededBy: map[model.ManifestName][]model.ManifestName{}}
	for _, r := range b.resourceRows() {
		g.rows[r.Name] = r
	}
	for _, e := range state.WithUpdates(b.v) {
		name := model.ManifestName(e.ID)
		for _, dep := range e.Value.Manifest.ResourceDeps {
			g.needs[name] = append(g.needs[name], dep)
			g.neededBy[dep] = append(g.neededBy[dep], name)
		}
	}
	return g
}

// branch is a resource in a tree.
type branch struct {
	bars string
	name model.ManifestName
	// again is set if the resources below it are drawn further up.
	again bool
}

// tree adds the resources that can be reached, each with its state. The resources below another one are drawn once.
func (g graph) tree(p *page, root model.ManifestName, edges map[model.ManifestName][]model.ManifestName) {
	drawn := map[model.ManifestName]bool{root: true}
	var list []branch
	width := 0
	var add func(name model.ManifestName, bars string)
	add = func(name model.ManifestName, bars string) {
		for i, next := range edges[name] {
			joint, below := "├ ", "│ "
			if i == len(edges[name])-1 {
				joint, below = "└ ", "  "
			}
			list = append(list, branch{bars + joint, next, drawn[next] && len(edges[next]) > 0})
			width = max(width, text.Width(bars+joint)+text.Width(string(next)))
			if !drawn[next] {
				drawn[next] = true
				add(next, bars+below)
			}
		}
	}
	add(root, "  ")
	for _, br := range list {
		head := text.Width(br.bars)
		line := p.add(width+2, Span{br.bars, Dim}, Span{text.PadRight(string(br.name), width-head) + "  ", Plain})
		line.Target.Resource = br.name
		if row, known := g.rows[br.name]; known {
			line.Cell = append(line.Cell, row.Important()...)
		} else {
			line.Cell = append(line.Cell, Span{"does not exist", Bad})
		}
		if br.again {
			line.Cell = append(line.Cell, Span{"  (see above)", Dim})
		}
	}
}

// imageLines adds the images of a resource, their base images, and the other resources that use them.
func (b *builder) imageLines(p *page, m model.Manifest) {
	if len(m.Images) == 0 {
		return
	}
	p.title("images")
	for _, im := range m.Images {
		line := p.add(4, Span{"  " + im.Ref, Plain})
		if len(im.DependsOn) > 0 {
			line.Cell = append(line.Cell, Span{"  built on " + strings.Join(im.DependsOn, ", "), Dim})
		}
		var others []model.ManifestName
		for _, e := range state.WithUpdates(b.v) {
			if _, shares := e.Value.Manifest.Image(im.Ref); shares && model.ManifestName(e.ID) != m.Name {
				others = append(others, model.ManifestName(e.ID))
			}
		}
		if len(others) > 0 {
			line.Cell = append(line.Cell, Span{"  also in " + names(others), Accent})
			line.Target.Resource = others[0]
		}
		if r, ok := state.Updates.In(b.v).Value(string(m.Name)).Running[im.Ref]; ok && r.Cluster != "" {
			line.Cell = append(line.Cell, Span{"  now " + r.Cluster, Dim})
		}
		if im.Docker != nil && im.Docker.Dockerfile != "" {
			p.add(6, Span{"    " + b.relative(im.Docker.Dockerfile), Dim}).Target.File = im.Docker.Dockerfile
		}
	}
}

// watched is a target of a resource with the files that it depends on.
type watched struct {
	target  model.TargetID
	title   string
	watch   model.WatchSpec
	context []model.Ignore
	live    model.LiveUpdate
}

// watchedBy returns the targets of a manifest that depend on files.
func watchedBy(m model.Manifest) []watched {
	var out []watched
	for _, im := range m.Images {
		w := watched{target: im.ID(), title: "image " + im.Ref, watch: im.Watch, live: im.LiveUpdate}
		if im.Docker != nil {
			w.context = im.Docker.ContextIgnores
		}
		out = append(out, w)
	}
	switch {
	case m.Local != nil:
		out = append(out, watched{target: m.DeployID(), title: "the command", watch: m.Local.Watch})
	case m.Compose != nil:
		out = append(out, watched{target: m.DeployID(), title: "the service", watch: m.Compose.Watch})
	case m.CustomDeploy() != nil:
		out = append(out, watched{target: m.DeployID(), title: "the deploy command", watch: m.K8s.CustomDeploy.Watch, live: m.K8s.CustomDeploy.LiveUpdate})
	}
	return slices.DeleteFunc(out, func(w watched) bool { return len(w.watch.Paths) == 0 })
}

// watchLines adds the files and folders that a resource watches.
func (b *builder) watchLines(p *page, m model.Manifest) {
	list := watchedBy(m)
	if len(list) == 0 {
		return
	}
	p.title("watches")
	for _, w := range list {
		for i, path := range w.watch.Paths {
			owner := "for " + w.title
			if i > 0 {
				owner = "" // as the one above
			}
			p.add(4, Span{"  " + b.relative(path), Plain}, Span{spaced(owner), Dim}).Target.File = path
		}
		for _, ig := range w.watch.Ignores {
			if len(ig.Patterns) == 0 {
				continue
			}
			line := p.add(6, Span{fmt.Sprintf("    without %s of %s", words.Count(len(ig.Patterns), "pattern"), b.source(ig)), Dim})
			for _, pattern := range ig.Patterns {
				line.Folded = append(line.Folded, Line{Cell: plain(pattern)})
			}
		}
		for _, s := range w.live.Syncs {
			p.add(6, Span{fmt.Sprintf("    in place: %s → %s", b.relative(s.LocalPath), s.RemotePath), Dim})
		}
	}
}

// source names the place where ignore patterns come from.
func (b *builder) source(ig model.Ignore) string {
	if ig.Source == "" {
		return b.relative(ig.Base)
	}
	return b.relative(ig.Source)
}
