package lsp

import (
	"slices"

	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// frame is an open bracket around a place, and the call that it belongs to.
type frame struct {
	// open is the index of the bracket, callee the index of the last token of the called expression; -1 if the bracket is not a
	// call.
	open, callee int
	// index is the number of positional arguments before the place; keyword is the keyword of the argument at the
	// place.
	index   int
	keyword string
	// first is the index of the first token of the argument at the place.
	first int
	// given are the other keywords of the call, before and after the place.
	given []string
	// texts are the arguments that are plain strings, by parameter, for calls of the language.
	texts map[string]token
	// spans bound the tokens of each argument, by parameter, for calls of the language; stars is set if the call has a
	// *args or **kwargs argument.
	spans map[string][2]int
	stars bool
}

// frames returns the brackets around a place, innermost first.
func (o *outline) frames(at int) []frame {
	i, _ := o.tokenAt(at)
	var out []frame
	for open := o.inside[min(i, len(o.inside)-1)]; open >= 0; open = o.inside[open] {
		out = append(out, o.frame(open, at))
	}
	return out
}

// frame reads the arguments between a bracket and its partner.
func (o *outline) frame(open, at int) frame {
	f := frame{open: open, callee: o.calleeOf(open), first: open + 1, texts: map[string]token{}, spans: map[string][2]int{}}
	var e *language.Entry
	if f.callee >= 0 {
		e = o.entryOf(f.callee)
	}
	index, found := 0, false
	i := open + 1
	for o.within(i, open) {
		end := o.argumentEnd(i, open)
		i = o.skipLines(i, end)
		keyword := ""
		if i+1 < end && o.is(i+1, "=") {
			keyword = o.name(i)
		}
		here := o.startOf(open, i) <= at && at <= o.endOf(end)
		switch {
		case here:
			f.index, f.first, found = index, i, true
			if at > o.token(i+1).start {
				f.keyword = keyword
			}
		case keyword != "":
			f.given = append(f.given, keyword)
		}
		if o.is(i, "*") {
			f.stars = true
		}
		o.noteArgument(f, e, keyword, index, i, end)
		if keyword == "" {
			index++
		}
		i = end + 1
	}
	if !found {
		f.index, f.first = index, i // after the last comma
	}
	return f
}

// argumentEnd returns the index of the comma or bracket that ends an argument.
func (o *outline) argumentEnd(i, open int) int {
	for o.within(i, open) && !o.separates(i, open) {
		i++
	}
	return i
}

func (o *outline) skipLines(i, end int) int {
	for i < end && o.isKind(i, tokenNewline) {
		i++
	}
	return i
}

// skipLinesBack returns the end of the tokens between from and end without the line breaks at their end.
func (o *outline) skipLinesBack(from, end int) int {
	for end > from && o.isKind(end-1, tokenNewline) {
		end--
	}
	return end
}

// startOf returns the offset where an argument begins for the user who types: after the comma or bracket before its first token.
func (o *outline) startOf(open, i int) int {
	for i--; i > open; i-- {
		if o.tokens[i].kind != tokenNewline {
			break
		}
	}
	return o.tokens[max(i, open)].end
}

// endOf returns the offset where an argument ends, given the index of the token after it.
func (o *outline) endOf(end int) int {
	if end >= len(o.tokens) {
		return len(o.text)
	}
	return o.tokens[end].start
}

// noteArgument records an argument in f.spans, and in f.texts if it is a plain string.
func (o *outline) noteArgument(f frame, e *language.Entry, keyword string, index, from, to int) {
	if e == nil {
		return
	}
	if keyword != "" {
		from += 2
	}
	from = o.skipLines(from, to)
	to = o.skipLinesBack(from, to)
	p, ok := parameter(e, keyword, index)
	if !ok {
		return
	}
	f.spans[p.Name] = [2]int{from, to}
	if to == from+1 && o.isKind(from, tokenString) {
		f.texts[p.Name] = o.token(from)
	}
}

// calleeOf returns the index of the last token of the expression that a bracket calls, or -1.
func (o *outline) calleeOf(open int) int {
	i := open - 1
	if !o.is(open, "(") || o.is(i-1, "def") {
		return -1
	}
	switch {
	case o.isKind(i, tokenName):
		return i
	case o.is(i, ")", "]") && o.opener(i) >= 0:
		return i
	}
	return -1
}

// name returns the name that a token is; empty for other tokens.
func (o *outline) name(i int) string {
	if o.isKind(i, tokenName) {
		return o.word(i)
	}
	return ""
}

// parameter returns the parameter that an argument goes to.
func parameter(e *language.Entry, keyword string, index int) (language.Param, bool) {
	if i := parameterIndex(e, keyword, index); i >= 0 {
		return e.Params[i], true
	}
	return language.Param{}, false
}

// parameterIndex returns the index of the parameter that an argument goes to, or -1.
func parameterIndex(e *language.Entry, keyword string, index int) int {
	if keyword != "" {
		p, ok := e.Param(keyword)
		if !ok {
			return -1
		}
		return slices.Index(e.Params, p)
	}
	for i, p := range e.Params {
		switch {
		case p.Stars == 1 && !p.Mark():
			return i
		case p.Mark(), p.KeywordOnly, p.Stars == 2:
			return -1
		case index == 0:
			return i
		}
		index--
	}
	return -1
}

// value is the known information about an expression.
type value struct {
	// entry is the name of the language, or the function of the text, that the expression refers to.
	entry *language.Entry
	// typ is its type, as the language's documentation writes it; empty when unknown.
	typ string
	def *definition
}

// deepest bounds the steps for which the value of a name is followed.
const deepest = 8

// entryOf returns the function that an expression refers to, given its last token; nil if it is not known from this
// file alone.
func (o *outline) entryOf(last int) *language.Entry { return o.valueOf(last, 0).entry }

// valueOf returns the value of the expression with the given last token.
func (o *outline) valueOf(last, depth int) value {
	if depth > deepest {
		return value{}
	}
	switch t := o.token(last); t.kind {
	case tokenString:
		return value{typ: "str"}
	case tokenNumber:
		return value{typ: "int"}
	case tokenName:
		if o.is(last-1, ".") {
			return o.valueOf(last-2, depth+1).member(o.word(last))
		}
		return o.nameValue(o.word(last), t.start, depth)
	default:
	}
	open := o.opener(last)
	switch o.word(open) {
	case "{":
		return value{typ: "dict"}
	case "[":
		if o.isOperand(open - 1) {
			return value{}
		}
		return value{typ: "list"}
	case "(":
		return o.valueOf(o.calleeOf(open), depth+1).returned()
	}
	return value{}
}

// returned returns the value of a call of v.
func (v value) returned() value {
	if v.entry == nil || v.typ != "" {
		return value{}
	}
	return value{typ: v.entry.Type}
}

// isOperand reports whether a token ends an operand, so that a bracket after it is an index.
func (o *outline) isOperand(i int) bool {
	return o.isKind(i, tokenName, tokenString) || o.is(i, ")", "]")
}

func (o *outline) nameValue(name string, at, depth int) value {
	d := o.lookup(name, at)
	if d == nil {
		return entryValue(language.Lookup(name))
	}
	v := value{entry: d.entry, def: d}
	if d.kind == definedVariable && o.simple(d.value, d.valueEnd) {
		found := o.valueOf(d.valueEnd-1, depth+1)
		v.typ = found.typ
		if found.def != d {
			v.entry = found.entry
		}
	}
	return v
}

// simple reports whether tokens are one operand, without operators outside of its brackets.
func (o *outline) simple(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if o.inside[i] == o.inside[from] && o.operates(i) {
			return false
		}
	}
	return from < to
}

// operates reports whether a token combines or compares operands.
func (o *outline) operates(i int) bool {
	return o.isKind(i, tokenMark, tokenKeyword) && !o.is(i, ".", "(", ")", "[", "]", "}")
}

// entryValue returns the value of a name of the language; e is nil for any other name.
func entryValue(e *language.Entry) value {
	v := value{entry: e}
	if e.Is(language.Value) {
		v.typ = e.Type
	}
	return v
}

// member returns a field or method of a value.
func (v value) member(name string) value {
	for _, e := range v.members() {
		if memberName(e) == name {
			return entryValue(e)
		}
	}
	return value{}
}

// members returns the members of a value.
func (v value) members() []*language.Entry {
	if v.entry.Is(language.Module) {
		return language.Members(v.entry.Name)
	}
	return language.Methods(v.typ)
}

// memberName returns the last part of an entry's name.
func memberName(e *language.Entry) string {
	for i := len(e.Name) - 1; i >= 0; i-- {
		if e.Name[i] == '.' {
			return e.Name[i+1:]
		}
	}
	return e.Name
}
