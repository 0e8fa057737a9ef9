package language

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	entryHead = regexp.MustCompile(`^## (?:\(([a-zA-Z.]+)\)\.)?([a-zA-Z0-9_.]+)(?: -> |: )(\S.*)$`)
	paramHead = regexp.MustCompile("^\\* `(\\*{0,2})([a-zA-Z_]\\w*)?(/?)(?:: ([^=`]+?)(?: = ([^`]+))?)?`(?: (\\S.*))?$")
)

// page is a page being read.
type page struct {
	chapters []Chapter
	// text receives the paragraphs of the chapter or the entry being read.
	text *string
	// code is set between ``` marks.
	code bool
}

// parsePage reads the chapters of a page. Errors begin with the line.
func parsePage(text string) ([]Chapter, error) {
	p := &page{}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
	}
	for i := range p.chapters {
		p.chapters[i].Text = strings.TrimSpace(p.chapters[i].Text)
		for _, e := range p.chapters[i].Entries {
			e.Text = strings.TrimSpace(e.Text)
			if err := e.check(); err != nil {
				return nil, fmt.Errorf(" %s: %w", e.Name, err)
			}
		}
	}
	return p.chapters, nil
}

// line reads one line of a page: a mark around code, the head of a chapter, an entry or a parameter, or a line of their
// texts.
func (p *page) line(line string) error {
	switch {
	case strings.HasPrefix(line, "```"):
		p.code = !p.code
	case p.code:
	case strings.HasPrefix(line, "# "):
		p.chapters = append(p.chapters, Chapter{Title: line[2:]})
		p.text = &p.chapters[len(p.chapters)-1].Text
		return nil
	case strings.HasPrefix(line, "## "):
		return p.entry(line)
	case strings.HasPrefix(line, "* `"):
		return p.param(line)
	case p.inParams() && strings.HasPrefix(line, "  "):
		e := p.last()
		e.Params[len(e.Params)-1].Text += " " + strings.TrimSpace(line)
		return nil
	case p.inParams() && line != "":
		return fmt.Errorf("%q continues after the parameters", line)
	}
	if p.text == nil {
		return fmt.Errorf("%q is before the first chapter", line)
	}
	*p.text += line + "\n"
	return nil
}

// last is the entry being read; nil before the first of a chapter.
func (p *page) last() *Entry {
	if len(p.chapters) == 0 {
		return nil
	}
	entries := p.chapters[len(p.chapters)-1].Entries
	if len(entries) == 0 {
		return nil
	}
	return entries[len(entries)-1]
}

func (p *page) inParams() bool {
	e := p.last()
	return e != nil && len(e.Params) > 0
}

func (p *page) entry(line string) error {
	m := entryHead.FindStringSubmatch(line)
	switch {
	case m == nil:
		return fmt.Errorf("%q is not the head of an entry", line)
	case len(p.chapters) == 0:
		return fmt.Errorf("%q is before the first chapter", line)
	}
	e := &Entry{Of: m[1], Name: m[2], Type: m[3]}
	switch {
	case e.Of != "":
		e.Kind = Method
	case strings.Contains(line, " -> "):
		e.Kind = Function
	case e.Type == "module":
		e.Kind, e.Type = Module, ""
	default:
		e.Kind = Value
	}
	c := &p.chapters[len(p.chapters)-1]
	c.Entries = append(c.Entries, e)
	p.text = &e.Text
	return nil
}

// param reads the head of a parameter. Parameters after "*" or "*xs" can only be given by keyword.
func (p *page) param(line string) error {
	e := p.last()
	m := paramHead.FindStringSubmatch(line)
	switch {
	case m == nil:
		return fmt.Errorf("%q is not a parameter", line)
	case e == nil || e.Kind == Value || e.Kind == Module:
		return fmt.Errorf("%q does not belong to a function", line)
	}
	a := Param{Stars: len(m[1]), Name: m[2], Positional: m[3] != "", Type: m[4], Default: m[5], Text: m[6]}
	for _, before := range e.Params {
		a.KeywordOnly = a.KeywordOnly || before.Stars == 1
	}
	whole := a.Type != "" && a.Text != ""
	if a.Mark() {
		whole = a.Stars == 1
	}
	if !whole {
		return fmt.Errorf("%q lacks its name, type or text", line)
	}
	e.Params = append(e.Params, a)
	return nil
}

// check refuses incomplete or contradictory entries.
func (e *Entry) check() error {
	if e.Text == "" {
		return fmt.Errorf("there is no text")
	}
	seen, optional := map[string]bool{}, false
	for _, p := range e.Params {
		switch {
		case p.Mark():
			continue
		case seen[p.Name]:
			return fmt.Errorf("parameter %s is described twice", p.Name)
		case p.Required() && optional && !p.KeywordOnly:
			return fmt.Errorf("parameter %s is required, but follows an optional one", p.Name)
		}
		seen[p.Name] = true
		optional = optional || p.Default != ""
	}
	return nil
}
