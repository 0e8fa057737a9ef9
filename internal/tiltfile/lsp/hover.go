package lsp

import (
	"strings"
	"unicode/utf16"

	"github.com/hone-dev/hone/internal/tiltfile/language"
)

func (s *server) hover(p positionParams) (any, error) {
	at, err := s.place(p)
	if err != nil {
		return nil, err
	}
	i, ok := at.o.pointed(at.at)
	if !ok || !at.o.isKind(i, tokenName) {
		return nil, nil
	}
	text := at.describe(i)
	if text == "" {
		return nil, nil
	}
	t := at.o.tokens[i]
	return hover{Contents: *markdown(text), Range: at.span(t.start, t.end)}, nil
}

// describe returns the documentation of a name in Markdown; empty if it is not known.
func (p place) describe(i int) string {
	if param, ok := p.keywordAt(i); ok {
		return "```python\n" + param.String() + "\n```\n\n" + param.Text + "\n"
	}
	v := p.o.valueOf(i, 0)
	switch {
	case v.def != nil:
		return p.describeDefinition(v)
	case v.entry != nil:
		return v.entry.Markdown()
	}
	return ""
}

// keywordAt returns the parameter that a name refers to as the keyword of an argument.
func (p place) keywordAt(i int) (language.Param, bool) {
	open := p.o.inside[i]
	if open < 0 || !p.o.is(i+1, "=") || p.o.is(i-1, ".") {
		return language.Param{}, false
	}
	e := p.callee(p.o.frame(open, p.o.tokens[i].start))
	if e == nil {
		return language.Param{}, false
	}
	return e.Param(p.o.word(i))
}

// describeDefinition describes a name that the text defines.
func (p place) describeDefinition(v value) string {
	d := v.def
	text, about := d.name, ""
	switch d.kind {
	case definedLoad:
		about = "\nLoaded from `" + d.file + "`.\n"
	case definedVariable:
		text = strings.TrimSpace(p.o.text[d.start:lineEnd(p.o.text, d.start)])
		if v.typ != "" {
			about = "\nIts type is `" + v.typ + "`.\n"
		}
	default:
	}
	if d.entry != nil {
		text = "def " + d.signature()
		if d.entry.Text != "" {
			about += "\n" + d.entry.Text + "\n"
		}
	}
	return "```python\n" + text + "\n```\n" + about
}

func (s *server) signatureHelp(p positionParams) (any, error) {
	at, err := s.place(p)
	if err != nil || at.o.inComment(at.at) {
		return nil, err
	}
	for _, f := range at.o.frames(at.at) {
		if f.callee < 0 {
			continue
		}
		e := at.callee(f)
		if e == nil {
			return nil, nil
		}
		return help(e, parameterIndex(e, f.keyword, f.index)), nil
	}
	return nil, nil
}

// help returns the signature help of a function; active is the index of the marked parameter, or -1.
func help(e *language.Entry, active int) signatureHelp {
	sig := e.Signature()
	if active < 0 {
		active = len(e.Params) // beyond the last: none is marked
	}
	info := signatureInformation{Label: sig.Text, Parameters: []parameterInformation{}}
	if e.Text != "" {
		info.Documentation = markdown(e.Summary())
	}
	for i, r := range sig.Params {
		param := parameterInformation{Label: [2]int{utf16Len(sig.Text[:r[0]]), utf16Len(sig.Text[:r[1]])}}
		if text := e.Params[i].Text; text != "" {
			param.Documentation = markdown(text)
		}
		info.Parameters = append(info.Parameters, param)
	}
	return signatureHelp{Signatures: []signatureInformation{info}, ActiveParameter: active}
}

func utf16Len(s string) int { return len(utf16.Encode([]rune(s))) }
