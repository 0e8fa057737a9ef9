package view

import (
	"fmt"
	"path/filepath"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/model"
)

// definitionTab shows the calls that have shaped the resource, in the Tiltfile and in the files that it loads.
func (b *builder) definitionTab(m model.Manifest) Tab {
	p := page{now: b.now}
	for _, d := range b.tiltfile.Result.Declared[m.Name] {
		if len(p.lines) > 0 {
			p.add(0)
		}
		own := filepath.IsAbs(d.File) // else it belongs to an extension that is part of hone
		target := func(line int) Target {
			if !own {
				return Target{}
			}
			return Target{File: d.File, Line: line}
		}
		head := p.add(2, Span{d.Call, Strong}, Span{fmt.Sprintf("  %s:%d", b.relative(d.File), d.Line), Accent})
		head.Target = target(d.Line)
		if d.From > 0 {
			head.Cell = append(head.Cell, Span{fmt.Sprintf("  from line %d of %s", d.From, b.relative(b.tiltfile.Path)), Dim})
			if !own {
				head.Target = Target{File: b.tiltfile.Path, Line: d.From}
			}
		}
		for i, source := range d.Source {
			p.add(8, Span{fmt.Sprintf("%5d   ", d.Line+i), Dim}, Span{text.Clean(source), Plain}).Target = target(d.Line + i)
		}
	}
	t := Tab{Kind: TabDefinition, Title: "definition", Lines: p.lines, Empty: "no call of the Tiltfile declares it"}
	if m.Name.Uncategorized() {
		t.Empty = "it holds the objects that belong to no workload"
	}
	return t
}
