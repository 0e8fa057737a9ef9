package lsp

import (
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// block is a function whose body is being read.
type block struct {
	indent int
	// first is the index of the first definition in the body.
	first int
}

// definer finds the names that a text defines, line by line.
type definer struct {
	*outline
	blocks []block
	// docFor is the function whose docstring may be the next line.
	docFor *definition
}

// define fills defs and loads.
func (o *outline) define() {
	d := &definer{outline: o}
	for i := 0; i < len(o.tokens); {
		i = o.skipLines(i, len(o.tokens))
		end := o.lineTokens(i)
		if i < end {
			d.line(i, end)
		}
		i = end + 1
	}
	d.closeBlocks(-1, len(o.text))
	for _, def := range o.defs {
		if def.to < 0 {
			def.to = len(o.text)
		}
	}
}

// lineTokens returns the end of the statement line that begins with token i: a line continues while brackets are open.
func (o *outline) lineTokens(i int) int {
	for first := i; i < len(o.tokens); i++ {
		switch {
		case o.inside[i] >= 0:
		case o.isKind(i, tokenNewline):
			return i
		case i > first && o.unclosed(i-1) && o.startsStatement(i):
			return i - 1 // the line before is incomplete: a bracket is missing
		}
	}
	return i
}

// unclosed reports whether a token is within brackets, and closes none.
func (o *outline) unclosed(i int) bool { return o.inside[i] >= 0 && o.match[i] < 0 }

// line reads one line of statements.
func (d *definer) line(from, to int) {
	start := d.tokens[from].start
	indent := start - strings.LastIndexByte(d.text[:start], '\n') - 1
	d.closeBlocks(indent, start)
	if d.docFor != nil {
		if t := d.tokens[from]; t.kind == tokenString {
			d.docFor.entry.Text = docText(d.str(t))
		}
		d.docFor = nil
	}
	d.statement(from, to, indent)
	d.bound(from, to)
}

// statement reads the statement that begins with a token.
func (d *definer) statement(from, to, indent int) {
	if from >= to {
		return
	}
	switch d.word(from) {
	case "def":
		d.function(from, to, indent)
		return
	case "load":
		if d.is(from+1, "(") {
			d.load(from + 1)
		}
		return
	case "for":
		d.targets(from+1, to, "in", 0, 0)
	case "if", "elif", "else", "while":
	default:
		d.assignment(from, to)
	}
	if i := d.outer(from, to, ":", ";"); i < to {
		d.statement(i+1, to, indent)
	}
}

// outer returns the first of the given marks that is not within brackets, else the end.
func (d *definer) outer(from, to int, marks ...string) int {
	for i := from; i < to; i++ {
		if d.inside[i] < 0 && d.is(i, marks...) {
			return i
		}
	}
	return to
}

// assignment reads "a = …" and "a, b = …".
func (d *definer) assignment(from, to int) {
	for i := from; i < to; i++ {
		switch {
		case d.inside[i] >= 0, d.isKind(i, tokenName), d.is(i, ",", "(", ")"):
			continue
		case d.is(i, "="):
			d.targets(from, i+1, "=", i+1, d.outer(i, to, ";"))
		}
		return
	}
}

// targets adds the names up to a mark. A single name gets the value.
func (d *definer) targets(from, to int, mark string, value, valueEnd int) {
	var names []int
	for i := from; i < to && !d.is(i, mark); i++ {
		member := d.is(i-1, ".") || d.is(i+1, ".", "(")
		if d.isKind(i, tokenName) && !member {
			names = append(names, i)
		}
	}
	for _, i := range names {
		def := d.add(definedVariable, d.tokens[i], d.word(i))
		if len(names) == 1 {
			def.value, def.valueEnd = value, valueEnd
		}
	}
}

// add adds a definition whose scope is the innermost function, or the file.
func (d *definer) add(kind definitionKind, t token, name string) *definition {
	def := &definition{kind: kind, name: name, start: t.start, end: t.end, from: 0, to: -1, global: len(d.blocks) == 0}
	if !def.global {
		b := d.blocks[len(d.blocks)-1]
		def.from = d.defs[b.first-1].start
	}
	d.defs = append(d.defs, def)
	return def
}

// closeBlocks ends the functions that do not contain a line of the given indentation.
func (d *definer) closeBlocks(indent, at int) {
	for len(d.blocks) > 0 && indent <= d.blocks[len(d.blocks)-1].indent {
		last := len(d.blocks) - 1
		for _, def := range d.defs[d.blocks[last].first:] {
			if def.to < 0 {
				def.to = at
			}
		}
		d.blocks = d.blocks[:last]
	}
}

// function reads "def name(params):" and opens its body.
func (d *definer) function(from, to, indent int) {
	if !d.isKind(from+1, tokenName) {
		return
	}
	t := d.tokens[from+1]
	name := d.word(from + 1)
	fn := d.add(definedFunction, t, name)
	fn.entry = &language.Entry{Name: name, Kind: language.Function, Type: "any"}
	d.docFor = fn
	d.blocks = append(d.blocks, block{indent, len(d.defs)})
	open := from + 2
	if !d.is(open, "(") {
		return
	}
	end := d.match[open]
	if end < 0 {
		end = to
	}
	d.params(fn.entry, open, min(end, to))
	if d.is(end+1, ":") && end+2 < to {
		if d.isKind(end+2, tokenString) {
			fn.entry.Text = docText(d.str(d.token(end + 2)))
		}
		d.docFor = nil
		d.statement(end+2, to, indent)
	}
}

// params reads the parameters between two brackets.
func (d *definer) params(e *language.Entry, open, end int) {
	p := language.Param{Type: "any"}
	keywordOnly := false
	for i := open + 1; i < end; i++ {
		switch {
		case d.inside[i] != open:
		case d.is(i, "*"):
			p.Stars++
			if d.is(i+1, ",") {
				e.Params = append(e.Params, language.Param{Stars: 1})
				keywordOnly = true
			}
		case d.is(i, ","):
			p = language.Param{Type: "any"}
		case d.isKind(i, tokenName) && p.Name == "":
			p.Name, p.KeywordOnly = d.word(i), keywordOnly
			def := d.add(definedParameter, d.tokens[i], p.Name)
			def.global = false
			if d.is(i+1, "=") {
				stop := d.defaultEnd(i+2, open, end)
				def.value, def.valueEnd = i+2, stop
				if i+2 < stop {
					p.Default = d.text[d.tokens[i+2].start:d.tokens[stop-1].end]
				}
			}
			if p.Stars == 1 {
				keywordOnly = true
			}
			e.Params = append(e.Params, p)
		}
	}
}

// defaultEnd returns the end of the tokens of a default that begins with a token.
func (d *definer) defaultEnd(i, open, end int) int {
	from := i
	for i < end && !d.separates(i, open) {
		i++
	}
	return d.skipLinesBack(from, i)
}

// bound adds the names that comprehensions and lambdas bind, with the line as their scope.
func (d *definer) bound(from, to int) {
	end := len(d.text)
	if to < len(d.tokens) {
		end = d.tokens[to].start
	}
	for i := from; i < to; i++ {
		var stop string
		switch {
		case d.is(i, "for") && d.inside[i] >= 0:
			stop = "in"
		case d.is(i, "lambda"):
			stop = ":"
		default:
			continue
		}
		for k := i + 1; k < to && !d.is(k, stop); k++ {
			if d.isKind(k, tokenName) && !d.is(k-1, "=") {
				def := d.add(definedParameter, d.tokens[k], d.word(k))
				def.global, def.from, def.to = false, d.tokens[from].start, end
			}
		}
	}
}

// load reads the arguments of a load statement.
func (d *definer) load(open int) {
	var st *loadStatement
	for i := open + 1; d.within(i, open); i++ {
		t := d.tokens[i]
		if t.kind != tokenString || d.inside[i] != open {
			continue
		}
		text := d.str(t)
		if st == nil {
			d.loads = append(d.loads, loadStatement{file: text, token: t})
			st = &d.loads[len(d.loads)-1]
			continue
		}
		name, at := text, token{start: t.inner, end: t.innerEnd}
		if d.is(i-1, "=") && d.isKind(i-2, tokenName) {
			name, at = d.word(i-2), d.tokens[i-2]
		}
		st.names = append(st.names, loadName{text, t})
		if name != "" {
			def := d.add(definedLoad, at, name)
			def.file, def.remote = st.file, text
		}
	}
}

// docText returns the text of a docstring without the indentation of the program.
func docText(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	cut := -1
	for _, l := range lines[1:] {
		if t := strings.TrimLeft(l, " \t"); t != "" && (cut < 0 || len(l)-len(t) < cut) {
			cut = len(l) - len(t)
		}
	}
	for i := range lines[1:] {
		lines[i+1] = strings.TrimRight(lines[i+1][min(max(cut, 0), len(lines[i+1])):], " \t\r")
	}
	return strings.Join(lines, "\n")
}
