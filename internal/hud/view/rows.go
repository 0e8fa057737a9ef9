package view

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// rows returns all rows in the order of the screen.
func (b *builder) rows() []Row {
	return Arrange(append([]Row{b.tiltfileRow()}, b.resourceRows()...), ByGroup)
}

// resourceRows returns the rows of the session's resources, in the order of the Tiltfile, and of the disabled ones after them.
func (b *builder) resourceRows() []Row {
	var rows []Row
	for _, s := range slices.Concat(status.All(b.v), status.Disabled(b.v)) {
		rows = append(rows, b.resourceRow(s))
	}
	return rows
}

// of returns the state of a resource; ok is false if there is none.
func (b *builder) of(name model.ManifestName) (s *status.Resource, ok bool) {
	if s, ok = b.known[name]; ok {
		return s, true
	}
	e := state.Resources.In(b.v).Ref(string(name))
	if e == nil {
		return nil, false
	}
	s = status.Of(b.v, state.UpdatingOf(b.v, e))
	b.known[name] = s
	return s, true
}

func (b *builder) resourceRow(s *status.Resource) Row {
	m := s.Manifest
	b.known[m.Name] = s
	r := Row{Name: m.Name, Group: group(*m), Cluster: b.clusterOf(*m), Status: s.State, Ports: s.Ports, Endpoints: s.Endpoints, UpdateErr: s.UpdateErr, RuntimeErr: s.RuntimeErr, PortErr: s.PortErr,
		Pod: s.Pods.Name, Pods: s.Pods.Count, Restarts: s.Pods.Restarts, Behind: len(s.Behind), Drift: driftBadge(s.Drift), Test: m.IsTest()}
	if last, ok := s.Updates.Last(); ok {
		r.Changed = last.FinishedAt
		r.Cached = last.Verdict != nil && last.Verdict.Cached
	}
	r.Runtime, r.RuntimeShort = b.runtimeCells(s)
	if since, away := buildcontrol.Away(b.v, *m); away && s.Unknown() {
		r.Runtime, r.RuntimeShort = Cell{{buildcontrol.Unknown(since, r.Runtime.String()), Warn}}, Cell{{"unknown", Warn}}
	}
	switch {
	case s.Text != "":
		r.Update = b.saying(s)
	case s.Updates.Current != nil:
		r.Update, r.Changed = b.building(*s.Updates.Current), b.now
	default:
		r.Update = b.past(s)
	}
	if r.Drift != "" {
		r.Update = append(Cell{{r.Drift + "  ", Warn}}, r.Update...)
	}
	if r.Behind > 0 {
		r.Update = append(Cell{{b.lag(s) + "  ", Warn}}, r.Update...)
	}
	r.Age = Age(r.Changed, b.now)
	return r
}

func group(m model.Manifest) string {
	if len(m.Labels) == 0 {
		return ""
	}
	return m.Labels[0]
}

// tiltfileRow returns the row of the Tiltfile's evaluation.
func (b *builder) tiltfileRow() Row {
	t := b.tiltfile
	r := Row{Name: model.TiltfileName, Runtime: none, RuntimeShort: none,
		Changed: t.FinishedAt, UpdateErr: t.Err}
	took := t.FinishedAt.Sub(t.StartedAt)
	is := status.OfTiltfile(t)
	r.Status = is.State
	switch r.Status {
	case Updating:
		r.Changed = b.now
		r.Update = Cell{{"evaluating", Accent}, {"  " + Elapsed(b.now.Sub(t.StartedAt)), Plain}}
		if is.Text != "" {
			r.Update = append(r.Update, Span{"  " + is.Text + "  " + Elapsed(b.now.Sub(is.Since)), Dim})
		}
	case Failed:
		r.Update = Cell{{b.below(firstLine(t.Err)), Bad}}
	case Waiting:
		r.Update = Cell{{is.Text, Warn}}
	case Warning:
		r.Update = Cell{{"ok  " + Duration(took), Plain}, {"  " + b.below(firstLine(t.Warnings[0])) + more(len(t.Warnings)-1), Warn}}
	default:
		r.Update = plain("ok  " + Duration(took))
	}
	r.Age = Age(r.Changed, b.now)
	return r
}

// below shortens the paths in a text to paths below the folder of the Tiltfile: a column has no room for more.
func (b *builder) below(text string) string {
	root := filepath.Dir(b.tiltfile.Path)
	if len(root) <= 1 {
		return text
	}
	return strings.ReplaceAll(text, root+string(filepath.Separator), "")
}
