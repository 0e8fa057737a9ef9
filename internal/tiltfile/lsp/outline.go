package lsp

import (
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// outline is the part of a text's structure that does not require it to be valid: tokens, brackets, and defined names.
type outline struct {
	text string
	// tokens excludes comments, which are in comments.
	tokens, comments []token
	// match holds the index of each bracket's partner, and -1 for other tokens and for unmatched brackets.
	match []int
	// inside holds, for each token and for the end of the text, the index of the innermost open bracket, or -1.
	inside []int
	// defs and loads are in the order of the text.
	defs  []*definition
	loads []loadStatement
}

// definitionKind is the kind of a definition.
type definitionKind int

const (
	definedVariable definitionKind = iota
	definedFunction
	definedParameter
	definedLoad
)

// definition is a name that the text defines.
type definition struct {
	kind definitionKind
	name string
	// start and end bound the name, from and to its scope.
	start, end, from, to int
	// global is set for names of the whole file, which other files can load.
	global bool
	// entry describes a function in the form of the language's own.
	entry *language.Entry
	// value and valueEnd bound the tokens of a variable's value; equal where it is not known.
	value, valueEnd int
	// file and remote are the file of a loaded name, and the name in it.
	file, remote string
}

// loadStatement is a load statement: its file, and the token of the string that names it.
type loadStatement struct {
	file  string
	token token
	// names are the definitions that the statement makes, with the tokens of their strings.
	names []loadName
}

type loadName struct {
	remote string
	token  token
}

func newOutline(text string) *outline {
	o := &outline{text: text}
	for _, t := range scan(text) {
		if t.kind == tokenComment {
			o.comments = append(o.comments, t)
		} else {
			o.tokens = append(o.tokens, t)
		}
	}
	if !o.brackets(false) {
		o.brackets(true)
	}
	o.define()
	return o
}

// token returns a token; beyond the tokens, it is the zero token.
func (o *outline) token(i int) token {
	if i < 0 || i >= len(o.tokens) {
		return token{}
	}
	return o.tokens[i]
}

// word returns the text of a token, or "" beyond the tokens.
func (o *outline) word(i int) string {
	t := o.token(i)
	return o.text[t.start:t.end]
}

// is reports whether a token is one of the given marks or words; false beyond the tokens.
func (o *outline) is(i int, marks ...string) bool { return slices.Contains(marks, o.word(i)) }

// isKind reports whether a token has one of the given kinds.
func (o *outline) isKind(i int, kinds ...tokenKind) bool {
	return slices.Contains(kinds, o.token(i).kind)
}

// str returns the text between the quotes of a string.
func (o *outline) str(t token) string { return o.text[t.inner:t.innerEnd] }

var partner = map[string]string{")": "(", "]": "[", "}": "{"}

// brackets matches brackets, and reports whether all have a partner. If not, the user is typing: with recover, a line
// that looks like a new statement closes all open brackets.
func (o *outline) brackets(recover bool) bool {
	o.match, o.inside = slices.Repeat([]int{-1}, len(o.tokens)), make([]int, 0, len(o.tokens)+1)
	var open []int
	balanced := true
	for i, t := range o.tokens {
		if recover && o.startsStatement(i) {
			open = nil
		}
		o.inside = append(o.inside, lastOr(open, -1))
		if t.kind != tokenMark {
			continue
		}
		switch w := o.word(i); w {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			if !o.is(lastOr(open, -1), partner[w]) {
				balanced = false
			}
			k := len(open) - 1
			for k >= 0 && o.word(open[k]) != partner[w] {
				k--
			}
			if k >= 0 {
				o.match[open[k]], o.match[i] = i, open[k]
				open = open[:k]
			}
		}
	}
	o.inside = append(o.inside, lastOr(open, -1))
	if len(open) > 0 {
		balanced = false
	}
	return balanced
}

// within reports whether a token is behind an open bracket and before its partner.
func (o *outline) within(i, open int) bool {
	return i < len(o.tokens) && i != o.match[open] && o.inside[i] >= open
}

// separates reports whether a token is a comma directly within a bracket.
func (o *outline) separates(i, open int) bool { return o.is(i, ",") && o.inside[i] == open }

// opener returns the index of the partner of a closing bracket; -1 if it has none, or is no closing bracket.
func (o *outline) opener(i int) int {
	if o.is(i, ")", "]", "}") {
		return o.match[i]
	}
	return -1
}

func lastOr(list []int, otherwise int) int {
	if len(list) == 0 {
		return otherwise
	}
	return list[len(list)-1]
}

// startsStatement reports whether a token is at the very beginning of a line and looks like the start of a statement.
func (o *outline) startsStatement(i int) bool {
	if start := o.tokens[i].start; start > 0 && o.text[start-1] != '\n' {
		return false
	}
	if o.isKind(i, tokenName) {
		return o.is(i+1, "(", ".", "=")
	}
	return o.is(i, "def", "load", "if", "for", "while", "return", "pass")
}

// tokenAt returns the index of the name, number or string that contains a place or ends at it; touching is then true.
// Otherwise it returns the index of the next token.
func (o *outline) tokenAt(at int) (i int, touching bool) {
	i, _ = slices.BinarySearchFunc(o.tokens, at, func(t token, at int) int {
		if t.start < at {
			return -1
		}
		return 1
	})
	if o.token(i - 1).touches(at) {
		return i - 1, true
	}
	return i, false
}

// touches reports whether a place is in a word, number or string, or at the end of one that could go on there.
func (t token) touches(at int) bool {
	switch t.kind {
	case tokenName, tokenKeyword, tokenNumber:
		return at <= t.end
	case tokenString:
		return at < t.end || t.open
	default:
		return false
	}
}

// pointed returns the index of the word, number or string that a place is in or touches; ok is false if there is none, or the
// place is in a comment.
func (o *outline) pointed(at int) (i int, ok bool) {
	i, touching := o.tokenAt(at)
	begins := i < len(o.tokens) && o.tokens[i].start == at
	return i, (touching || begins) && !o.inComment(at)
}

// inComment reports whether a place is in a comment, or at its end.
func (o *outline) inComment(at int) bool {
	return slices.ContainsFunc(o.comments, func(c token) bool { return c.start < at && at <= c.end })
}

// lookup returns the definition of a name at a place: in the innermost scope, the nearest one before the place. It
// returns nil if there is none.
func (o *outline) lookup(name string, at int) *definition {
	var best *definition
	for _, d := range o.defs {
		if d.name == name && d.covers(at) && d.nearer(best, at) {
			best = d
		}
	}
	return best
}

// covers reports whether a place is in the scope of a definition.
func (d *definition) covers(at int) bool { return d.from <= at && at <= d.to }

// nearer reports whether a definition is the one to use at a place instead of the best one found before it in the text; nil for
// none. A smaller scope wins. In one scope it is the last definition before the place, or the first one.
func (d *definition) nearer(best *definition, at int) bool {
	if best == nil {
		return true
	}
	if wider := (d.to - d.from) - (best.to - best.from); wider != 0 {
		return wider < 0
	}
	return d.start <= at || d.start < best.start
}

// visible returns the definitions that can be used at a place, one of each name, in the order of the text.
func (o *outline) visible(at int) []*definition {
	var out []*definition
	seen := map[string]bool{}
	for _, d := range o.defs {
		if d.covers(at) && !seen[d.name] {
			seen[d.name] = true
			out = append(out, o.lookup(d.name, at))
		}
	}
	return out
}

// exports returns the names that other files can load.
func (o *outline) exports() []*definition {
	var out []*definition
	for _, d := range o.visible(len(o.text)) {
		if d.exported() {
			out = append(out, d)
		}
	}
	return out
}

// exported reports whether other files can load a definition.
func (d *definition) exported() bool {
	return d.global && d.kind != definedLoad && !strings.HasPrefix(d.name, "_")
}

// resourceNames are the parameters whose text names a resource, by builtin.
var resourceNames = map[string][]string{
	"local_resource": {"name"}, "test": {"name"}, "k8s_custom_deploy": {"name"}, "dc_resource": {"new_name", "name"},
	"k8s_resource": {"new_name", "workload"},
}

// resourceCall is a call that names a resource.
type resourceCall struct {
	builtin string
	// start is the beginning of the call, name the string with the name.
	start int
	name  token
}

// resourceCalls finds the calls that name resources, in the order of the text.
func (o *outline) resourceCalls() []resourceCall {
	var out []resourceCall
	for i := range o.tokens {
		params := resourceNames[o.word(i)]
		if !o.is(i+1, "(") || o.is(i-1, ".", "def") {
			continue
		}
		f := o.frame(i+1, len(o.text)+1)
		for _, p := range params {
			if t, ok := f.texts[p]; ok {
				out = append(out, resourceCall{o.word(i), o.tokens[i].start, t})
				break
			}
		}
	}
	return out
}

// resources returns the names of the resources that the text declares, sorted.
func (o *outline) resources() []string {
	var out []string
	for _, c := range o.resourceCalls() {
		if name := o.str(c.name); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
