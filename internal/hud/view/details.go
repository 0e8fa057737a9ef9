package view

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Details are all known facts about one resource, or about (Tiltfile), in tabs.
type Details struct {
	Name model.ManifestName
	// Head are the lines above every tab: update, runtime, addresses.
	Head []Line
	// Tabs are always the same for a resource, and others for (Tiltfile), so that a number always selects the same one.
	Tabs []Tab
}

// Tab is one page of the details.
type Tab struct {
	Kind  TabKind
	Title string
	Lines []Line
	// Empty is the message if there are no lines.
	Empty string
}

// TabKind is the topic of a tab.
type TabKind uint8

// The topics: a resource's, then (Tiltfile)'s.
const (
	TabUpdates TabKind = iota
	TabPods            // containers of Compose and the process of a local resource as well
	TabEvents
	TabObjects
	TabDefinition
	TabGraph
	TabEvaluations
	TabFiles
	TabWarnings
	TabArguments
)

// Line is a line of a tab. It can be selected if it leads somewhere or hides something.
type Line struct {
	Cell Cell
	// Indent is the number of columns before the rows after the first, when the line is wrapped.
	Indent int
	Target Target
	// Folded are the lines that are shown below it when it is opened: the output of a failed run, the files of an update.
	Folded []Line
}

// Selectable reports whether the line leads somewhere, or can be opened.
func (l Line) Selectable() bool { return len(l.Folded) > 0 || l.Target != Target{} }

// Target is the place that a line leads to. At most one of File, Resource, Object, URL and Revision is set; Span may be set beside them,
// for the key that shows the log.
type Target struct {
	// File is an absolute path for the editor, and Line the line in it, 0 if none in particular.
	File string
	Line int
	// Span is a log span.
	Span     string
	Resource model.ManifestName
	// Object is an object of the cluster, to read its YAML.
	Object model.AppliedObject
	// URL is an address for the browser.
	URL string
	// Revision is a revision, to compare it with the one before.
	Revision RevisionRef
}

// Rows wraps the line at words into rows of at most width columns.
func (l Line) Rows(width int) []Cell {
	if l.Cell.Width() <= width {
		return []Cell{l.Cell}
	}
	indent := min(l.Indent, width/2)
	var rows []Cell
	var row Cell
	used, begun := 0, false // begun: the row has more than its indentation
	next := func() {
		rows = append(rows, trimRight(row))
		row, used, begun = Cell{{strings.Repeat(" ", indent), Plain}}, indent, false
	}
	put := func(s string, tone Tone) {
		row = append(row, Span{s, tone})
		used += text.Width(s)
	}
	for _, word := range wordsOf(l.Cell) {
		w := text.Width(word.Text)
		blank := strings.TrimSpace(word.Text) == ""
		switch {
		case used+w <= width:
		case blank:
			next()
			continue
		case begun && (w <= width-indent || used > width*2/3):
			next()
		}
		if blank && !begun && len(rows) > 0 {
			continue // no blanks at the start of a continuation row
		}
		for text.Width(word.Text) > width-used { // longer than a row
			head, tail := splitAt(word.Text, width-used)
			put(head, word.Tone)
			word.Text = tail
			next()
		}
		if word.Text != "" {
			put(word.Text, word.Tone)
			begun = begun || !blank
		}
	}
	if !begun && len(rows) > 0 {
		return rows // only blanks are left
	}
	return append(rows, trimRight(row))
}

// wordsOf splits a cell into words and the blanks between them. It drops characters without width, so that the two parts of a
// word that has to be cut make up the whole.
func wordsOf(c Cell) []Span {
	var out []Span
	for _, s := range c {
		s.Text = text.Clean(s.Text)
		from := 0
		for i := 1; i < len(s.Text); i++ {
			if (s.Text[i] == ' ') != (s.Text[i-1] == ' ') {
				out = append(out, Span{s.Text[from:i], s.Tone})
				from = i
			}
		}
		if from < len(s.Text) {
			out = append(out, Span{s.Text[from:], s.Tone})
		}
	}
	return out
}

// splitAt splits s after as many graphemes as fit into width columns, but after at least one.
func splitAt(s string, width int) (head, tail string) {
	n := 0
	for _, g := range text.Parse(s) {
		if n > 0 && text.Width(head)+g.Width > width {
			break
		}
		head += g.Text
		n++
	}
	return head, strings.TrimPrefix(s, head)
}

func trimRight(c Cell) Cell {
	for len(c) > 0 {
		last := &c[len(c)-1]
		if last.Text = strings.TrimRight(last.Text, " "); last.Text != "" {
			break
		}
		c = c[:len(c)-1]
	}
	return c
}

// Text returns the details as lines without tones, tab after tab, including folded lines: for output without a screen.
func (d Details) Text(width int) string {
	var b strings.Builder
	var add func(lines []Line, before string)
	add = func(lines []Line, before string) {
		for _, l := range lines {
			for _, row := range l.Rows(width - len(before)) {
				b.WriteString(strings.TrimRight(before+row.String(), " ") + "\n")
			}
			add(l.Folded, before+"  | ")
		}
	}
	add(d.Head, "")
	for i, t := range d.Tabs {
		fmt.Fprintf(&b, "\n--- %d %s\n", i+1, t.Title)
		if len(t.Lines) == 0 {
			add([]Line{{Cell: plain(t.Empty)}}, "")
		}
		add(t.Lines, "")
	}
	return b.String()
}

// DetailsOf returns all known facts about one resource, or about (Tiltfile). ok is false if the resource does not exist.
func DetailsOf(v store.View, name model.ManifestName, now time.Time) (d Details, ok bool) {
	b := newBuilder(v, now)
	if name == model.TiltfileName {
		return b.tiltfileDetails(), true
	}
	s, ok := b.of(name)
	if !ok {
		return Details{}, false
	}
	m, u := *s.Manifest, *s.Updates
	return Details{Name: name, Head: b.head(b.resourceRow(s), m), Tabs: []Tab{
		b.updatesTab(m, u), b.podsTab(s), b.eventsTab(m), b.objectsTab(m, u), b.definitionTab(m), b.graphTab(m),
	}}, true
}

func (b *builder) head(r Row, m model.Manifest) []Line {
	p := page{now: b.now}
	p.field("update", r.Update)
	p.field("runtime", r.Runtime)
	if r.Cluster != "" {
		p.field("cluster", b.clusterCell(m))
	}
	p.field("trigger", plain(m.TriggerMode.String()))
	for i, e := range r.Endpoints {
		name := "address"
		if i > 0 {
			name = ""
		}
		p.field(name, Cell{{e.URL, Accent}, {spaced(e.Name), Dim}}).Target.URL = e.URL
	}
	return p.lines
}

// spaced returns text after a gap, or nothing for no text.
func spaced(s string) string {
	if s == "" {
		return ""
	}
	return "  " + s
}

// page collects lines.
type page struct {
	now   time.Time
	lines []Line
}

// fieldWidth is the width of the names of fields.
const fieldWidth = 12

// add adds a line and returns it, for changes before the next one is added.
func (p *page) add(indent int, spans ...Span) *Line {
	p.lines = append(p.lines, Line{Cell: spans, Indent: indent})
	return &p.lines[len(p.lines)-1]
}

// title adds a heading, after a blank line unless it is the first line.
func (p *page) title(s string) *Line {
	if len(p.lines) > 0 {
		p.add(0)
	}
	return p.add(0, Span{s, Strong})
}

func (p *page) field(name string, value Cell) *Line {
	return p.add(fieldWidth, append(Cell{{text.PadRight(name, fieldWidth), Dim}}, value...)...)
}

// foreign returns the lines of foreign text.
func foreign(s string, indent int, tone Tone) []Line {
	var out []Line
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		line = text.Clean(strings.TrimRight(line, "\r\n"))
		out = append(out, Line{Cell: Cell{{strings.Repeat(" ", indent) + line, tone}}, Indent: indent})
	}
	return out
}

// absolute returns the path of a file that state.Relative has shortened.
func (b *builder) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(b.tiltfile.Path), file)
}

// relative returns a path for people.
func (b *builder) relative(file string) string {
	return state.Relative(b.tiltfile.Path, []string{file})[0]
}

// fileLines returns a line for each file, which opens it.
func (b *builder) fileLines(files []string, indent int) []Line {
	out := make([]Line, len(files))
	for i, f := range files {
		out[i] = Line{Cell: Cell{{strings.Repeat(" ", indent) + f, Plain}}, Indent: indent, Target: Target{File: b.absolute(f)}}
	}
	return out
}

// clock formats the time of an event: the time of day, or its age if that is more than a day.
func clock(at, now time.Time) string {
	switch {
	case at.IsZero():
		return "–"
	case now.Sub(at) > 24*time.Hour:
		return Age(at, now)
	}
	return at.Local().Format(time.TimeOnly)
}

// names joins names of resources.
func names(list []model.ManifestName) string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}

// waiters returns the resources that wait for this one, in the order of the Tiltfile, with their holds.
func (b *builder) waiters(name model.ManifestName) (list []model.ManifestName, holds []buildcontrol.Hold) {
	for _, e := range state.Ordered(b.v) {
		other := model.ManifestName(e.ID)
		hold, held := b.plan.Holds[other]
		if !held || other == name {
			continue
		}
		for _, on := range hold.On {
			if on == name {
				list, holds = append(list, other), append(holds, hold)
			}
		}
	}
	return list, holds
}
