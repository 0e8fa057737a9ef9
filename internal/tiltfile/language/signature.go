package language

import "strings"

// Signature is a call as it is shown to people, with the places of the parameters in it.
type Signature struct {
	Text string
	// Params are the ranges of bytes of Text that the entry's parameters stand at, in their order; the mark that ends what
	// is taken by position has one, too.
	Params [][2]int
}

// Signature returns how a function is called, "sync(local_path: path, remote_path: str) -> step". For anything else it is
// "name: type", without parameters.
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

// String returns the parameter as it stands in a signature, "name: type = default".
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

// Summary is the first sentence of the text, without Markdown's marks for code.
func (e *Entry) Summary() string {
	text, _, _ := strings.Cut(e.Text, "\n\n")
	text = strings.ReplaceAll(text, "\n", " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// Markdown returns all that is known about the entry, its parameters included, without a heading.
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

// wide is how long a signature may be in one line.
const wide = 100

// long is the signature; a parameter per line where one line would be too long.
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
