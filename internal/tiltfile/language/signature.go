package language

import "strings"

// Signature is a call as displayed to users, with the places of the parameters in it.
type Signature struct {
	Text string
	// Params are the byte ranges of the entry's parameters in Text, in their order; the mark that ends the positional
	// parameters has one too.
	Params [][2]int
}

// Signature returns the signature of a function, "sync(local_path: path, remote_path: str) -> step". For a value it is
// "name: type", for a module "module name".
func (e *Entry) Signature() Signature {
	if e.sig != nil {
		return *e.sig
	}
	var s Signature
	name := e.Name
	if e.Of != "" {
		name = e.Of + "." + name
	}
	switch e.Kind {
	case Module:
		return Signature{Text: "module " + name}
	case Value:
		return Signature{Text: name + ": " + e.Type}
	case Function, Method: // have parameters, below
	}
	var b strings.Builder
	b.WriteString(name + "(")
	for i, p := range e.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		from := b.Len()
		b.WriteString(p.String())
		s.Params = append(s.Params, [2]int{from, b.Len()})
		if p.Positional && (i+1 == len(e.Params) || !e.Params[i+1].Positional) {
			b.WriteString(", /")
		}
	}
	b.WriteString(") -> " + e.Type)
	s.Text = b.String()
	return s
}

// String returns the parameter as in a signature, "name: type = default".
func (p Param) String() string {
	s := strings.Repeat("*", p.Stars) + p.Name
	if p.Type != "" {
		s += ": " + p.Type
	}
	if p.Default != "" {
		s += " = " + p.Default
	}
	return s
}

// Summary returns the first sentence of the text.
func (e *Entry) Summary() string {
	text, _, _ := strings.Cut(e.Text, "\n\n")
	text = strings.ReplaceAll(text, "\n", " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// Markdown returns the whole documentation of the entry, with its parameters, without a heading.
func (e *Entry) Markdown() string {
	var b strings.Builder
	b.WriteString("```python\n" + e.long() + "\n```\n\n" + e.Text + "\n")
	first := true
	for _, p := range e.Params {
		if p.Mark() {
			continue
		}
		if first {
			b.WriteString("\n")
		}
		first = false
		b.WriteString("* `" + strings.Repeat("*", p.Stars) + p.Name + "` " + p.Text + "\n")
	}
	return b.String()
}

// wide is the maximum length of a signature on one line.
const wide = 100

// long returns the signature, with one parameter per line if one line would be too long.
func (e *Entry) long() string {
	s := e.Signature()
	if len(s.Text) <= wide || len(s.Params) == 0 {
		return s.Text
	}
	var b strings.Builder
	b.WriteString(s.Text[:s.Params[0][0]] + "\n")
	for _, r := range s.Params {
		b.WriteString("    " + s.Text[r[0]:r[1]] + ",\n")
	}
	b.WriteString(s.Text[s.Params[len(s.Params)-1][1]:])
	return b.String()
}
