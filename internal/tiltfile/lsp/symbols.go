package lsp

import (
	"cmp"
	"slices"
)

func (s *server) definition(p positionParams) (any, error) {
	at, err := s.place(p)
	if err != nil {
		return nil, err
	}
	i, ok := at.o.pointed(at.at)
	if !ok {
		return nil, nil
	}
	if l := at.definitionOf(i); l != nil {
		return *l, nil
	}
	return nil, nil
}

// definitionOf returns the location of the name or the file that a token refers to, or nil.
func (p place) definitionOf(i int) *location {
	t := p.o.tokens[i]
	if t.kind == tokenString {
		for _, l := range p.o.loads {
			if l.token == t {
				return p.fileLocation(l.file)
			}
			for _, n := range l.names {
				if n.token == t {
					return p.loadedLocation(&definition{file: l.file, remote: n.remote})
				}
			}
		}
		return nil
	}
	if t.kind != tokenName || p.o.is(i-1, ".") {
		return nil
	}
	if _, isKeyword := p.keywordAt(i); isKeyword {
		return nil
	}
	d := p.o.lookup(p.o.word(i), t.start)
	switch {
	case d == nil:
		return nil
	case d.kind == definedLoad:
		if l := p.loadedLocation(d); l != nil {
			return l
		}
	}
	return &location{p.doc.uri, p.span(d.start, d.end)}
}

// loadedLocation returns the location of a loaded name's definition; nil if it is not in a file that an editor can
// open.
func (p place) loadedLocation(d *definition) *location {
	target, file := p.files.target(p.doc, d)
	l := p.fileLocation(d.file)
	if l != nil && target != nil {
		l.Range = file.span(target.start, target.end, p.encoding)
	}
	return l
}

func (p place) fileLocation(name string) *location {
	path := p.files.pathOf(p.doc, name)
	if path == "" {
		return nil
	}
	return &location{URI: uriOf(path)}
}

func (s *server) documentSymbol(p documentParams) (any, error) {
	d, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	o := d.outline()
	out := []documentSymbol{}
	seen := map[string]bool{}
	for _, def := range o.defs {
		if !def.global || seen[def.name] {
			continue
		}
		seen[def.name] = true
		kind := map[definitionKind]int{definedFunction: symbolFunction, definedLoad: symbolModule}[def.kind]
		if kind == 0 {
			kind = symbolVariable
		}
		at := d.span(def.start, def.end, s.encoding)
		out = append(out, documentSymbol{Name: def.name, Detail: def.detail(), Kind: kind, Range: at, SelectionRange: at})
	}
	out = append(out, s.resourceSymbols(d)...)
	slices.SortStableFunc(out, func(a, b documentSymbol) int {
		return cmp.Or(a.Range.Start.Line-b.Range.Start.Line, a.Range.Start.Character-b.Range.Start.Character)
	})
	return out, nil
}

// resourceSymbols returns the calls that name resources, as symbols.
func (s *server) resourceSymbols(d *document) []documentSymbol {
	var out []documentSymbol
	for _, r := range d.outline().resourceCalls() {
		if name := d.outline().str(r.name); name != "" {
			out = append(out, documentSymbol{Name: name, Detail: r.builtin, Kind: symbolObject,
				Range: d.span(r.start, r.name.end, s.encoding), SelectionRange: d.span(r.name.start, r.name.end, s.encoding)})
		}
	}
	return out
}
