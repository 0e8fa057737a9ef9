package language

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed pages/*.md
var files embed.FS

// Kind is the kind of a name.
type Kind int

// The kinds of names.
const (
	Function Kind = iota
	Value
	Module
	// Method is a function of the values of one type.
	Method
)

// Chapter is a group of entries.
type Chapter struct {
	Title string
	// Text introduces the chapter, in Markdown; it may be empty.
	Text    string
	Entries []*Entry
}

// Entry is one name of the language.
type Entry struct {
	// Name is the whole name, "os.path.join"; the name of a method is without its type.
	Name string
	Kind Kind
	// Of is the type that a method belongs to; empty otherwise.
	Of string
	// Type is the type of a function's result, or of a value; empty for modules.
	Type string
	// Text is Markdown. Its first sentence is a summary.
	Text   string
	Params []Param
	// sig caches the signature of an entry of the reference.
	sig *Signature
}

// Param is a parameter of a function.
type Param struct {
	// Name is without the stars of "*args" and "**kwargs"; empty for the mark that ends the positional parameters.
	Name string
	Type string
	// Default is the default as it would be written; empty for a required parameter.
	Default string
	// Text is Markdown.
	Text string
	// Stars is 1 for a parameter that takes all further positional arguments, 2 for all further keyword arguments.
	Stars int
	// Positional parameters cannot be given by keyword, KeywordOnly ones only by keyword.
	Positional  bool
	KeywordOnly bool
}

// Mark reports whether the parameter is only the mark that ends the positional parameters.
func (p Param) Mark() bool { return p.Name == "" }

// Required reports whether a call must give the parameter.
func (p Param) Required() bool { return p.Default == "" && p.Stars == 0 && !p.Mark() }

// Keyword reports whether the parameter can be given by keyword.
func (p Param) Keyword() bool { return p.Stars == 0 && !p.Mark() && !p.Positional }

// Words returns the allowed texts, if the parameter takes only certain texts.
func (p Param) Words() []string {
	var out []string
	for t := range strings.SplitSeq(p.Type, "|") {
		if t = strings.TrimSpace(t); len(t) > 1 && t[0] == '"' {
			out = append(out, strings.Trim(t, `"`))
		}
	}
	return out
}

// Takes reports whether the parameter takes values of a type, directly or as elements of a list.
func (p Param) Takes(typ string) bool {
	parts := strings.FieldsFunc(p.Type, func(r rune) bool { return strings.ContainsRune("|[], ", r) })
	return slices.Contains(parts, typ)
}

// reference is the parsed form of the pages.
type reference struct {
	chapters []Chapter
	byName   map[string]*Entry
	methods  map[string][]*Entry
}

var load = sync.OnceValue(func() reference {
	l, err := parseAll(files)
	if err != nil {
		// The pages are part of the program: its own tests read them.
		panic(fmt.Sprintf("the built-in pages of the language are broken: %v", err))
	}
	return l
})

func parseAll(from fs.FS) (reference, error) {
	l := reference{byName: map[string]*Entry{}, methods: map[string][]*Entry{}}
	names, err := fs.Glob(from, "pages/*.md")
	if err != nil {
		return l, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return l, err
		}
		chapters, err := parsePage(string(text))
		if err != nil {
			return l, fmt.Errorf("%s:%w", name, err)
		}
		l.chapters = append(l.chapters, chapters...)
	}
	for _, c := range l.chapters {
		for _, e := range c.Entries {
			sig := e.Signature()
			e.sig = &sig
			if e.Kind == Method {
				l.methods[e.Of] = append(l.methods[e.Of], e)
				continue
			}
			if l.byName[e.Name] != nil {
				return l, fmt.Errorf("%s is described twice", e.Name)
			}
			l.byName[e.Name] = e
		}
	}
	return l, nil
}

// Chapters returns all chapters, in the order of the reference.
func Chapters() []Chapter { return load().chapters }

// Lookup returns the entry of a whole name, such as "docker_build" or "os.path.join"; nil if there is none. It does not
// find methods; see Methods.
func Lookup(name string) *Entry { return load().byName[name] }

// Members returns the entries directly below a module, such as "os", or those outside of modules for "". They are in
// the order of the reference.
func Members(module string) []*Entry {
	prefix := ""
	if module != "" {
		prefix = module + "."
	}
	var out []*Entry
	for _, c := range Chapters() {
		for _, e := range c.Entries {
			rest, ok := strings.CutPrefix(e.Name, prefix)
			if ok && e.Kind != Method && !strings.Contains(rest, ".") {
				out = append(out, e)
			}
		}
	}
	return out
}

// Methods returns the methods of a type, such as "str"; none for types without methods. "dict[str, any]" has the
// methods of "dict".
func Methods(typ string) []*Entry {
	base, _, _ := strings.Cut(typ, "[")
	return load().methods[base]
}

// OtherNames maps keywords from documents and from older versions of the language to the present names of the
// parameters. An old keyword is accepted where the function has a parameter of the present name, and none of the old
// name.
var OtherNames = map[string]string{
	"files": "paths", "paths": "path", "file_path": "path", "pathToDir": "path", "pathToChart": "path",
	"directory": "dir", "contents": "input", "func": "fn", "targpath": "path", "basepath": "start",
}

// Is reports whether the entry is of one of the given kinds; nil is of none.
func (e *Entry) Is(kinds ...Kind) bool { return e != nil && slices.Contains(kinds, e.Kind) }

// Param returns the parameter that a keyword means: by its name, by OtherNames, or "**kwargs".
func (e *Entry) Param(keyword string) (Param, bool) {
	for _, name := range []string{keyword, OtherNames[keyword]} {
		for _, p := range e.Params {
			if name != "" && p.Name == name && p.Keyword() {
				return p, true
			}
		}
	}
	for _, p := range e.Params {
		if p.Stars == 2 {
			return p, true
		}
	}
	return Param{}, false
}
