package lsp

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// program is a document as parsed by the interpreter's parser, with the bindings of its names.
type program struct {
	doc  *document
	file *syntax.File
	// refused is the error of the resolver, or nil.
	refused error
	// bound counts how often a name is bound, in any scope. A name that is bound once has only one value.
	bound map[string]int
	// values are the values of assigned names, loaded the origins of loaded names.
	values map[string]syntax.Expr
	loaded map[string]loadedName
	// asked are the members that the text tests with hasattr, and may therefore use.
	asked map[string]bool
}

// nativeModule is the name of the module that only extensions that are part of hone see.
const nativeModule = "native"

// loadedName is a name of another file.
type loadedName struct{ file, remote string }

// program returns the parsed text, or the error of the parser.
func (d *document) program() (*program, error) {
	if d.parsed == nil && d.unparsed == nil {
		d.parsed, d.unparsed = newProgram(d)
	}
	return d.parsed, d.unparsed
}

func newProgram(d *document) (*program, error) {
	file, err := dialect.Parse(d.path, d.text, 0)
	if err != nil {
		return nil, err
	}
	p := &program{doc: d, file: file, bound: map[string]int{}, values: map[string]syntax.Expr{}, loaded: map[string]loadedName{}, asked: map[string]bool{}}
	known := func(name string) bool { return language.Lookup(name) != nil || d.unpacked && name == nativeModule }
	p.refused = resolve.File(file, known, func(string) bool { return false })
	syntax.Walk(file, func(n syntax.Node) bool {
		p.note(n)
		return true
	})
	return p, nil
}

// note counts the names that a node binds.
func (p *program) note(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.AssignStmt:
		p.bind(n.LHS)
		if id, ok := n.LHS.(*syntax.Ident); ok && n.Op == syntax.EQ {
			p.values[id.Name] = n.RHS
		}
	case *syntax.DefStmt:
		p.bind(n.Name)
		p.parameters(n.Params)
	case *syntax.LambdaExpr:
		p.parameters(n.Params)
	case *syntax.ForStmt:
		p.bind(n.Vars)
	case *syntax.ForClause:
		p.bind(n.Vars)
	case *syntax.LoadStmt:
		for i, to := range n.To {
			p.bind(to)
			p.loaded[to.Name] = loadedName{n.ModuleName(), n.From[i].Name}
		}
	case *syntax.CallExpr:
		if id, ok := n.Fn.(*syntax.Ident); ok && id.Name == "hasattr" && len(n.Args) == 2 {
			if name, ok := textOf(n.Args[1]); ok {
				p.asked[name] = true
			}
		}
	}
}

// bind counts the names on the left side of an assignment.
func (p *program) bind(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Ident:
		p.bound[x.Name]++
	case *syntax.ParenExpr:
		p.bind(x.X)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			p.bind(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			p.bind(e)
		}
	}
}

func (p *program) parameters(params []syntax.Expr) {
	for _, x := range params {
		switch x := x.(type) {
		case *syntax.BinaryExpr:
			p.bind(x.X)
		case *syntax.UnaryExpr:
			p.bind(x.X)
		default:
			p.bind(x)
		}
	}
}

// textOf returns the text of a string literal.
func textOf(x syntax.Expr) (string, bool) {
	l, ok := x.(*syntax.Literal)
	if !ok || l.Token != syntax.STRING {
		return "", false
	}
	return l.Value.(string), true
}

// shape is the complete set of members of a value.
type shape struct {
	// of names the value, for messages.
	of string
	// names are the members.
	names []string
	// member returns the shape of a member; nil if it is not known.
	member func(name string) *shape
	// elsewhere is set for values of other files, which may change before they are loaded.
	elsewhere bool
}

// shapeOf returns the members of an expression's value; nil unless they are completely known.
func (w *workspace) shapeOf(p *program, x syntax.Expr, depth int) *shape {
	if depth > deepest {
		return nil
	}
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return w.shapeOf(p, x.X, depth+1)
	case *syntax.Literal:
		if x.Token == syntax.STRING {
			return methodShape("str")
		}
	case *syntax.ListExpr:
		return methodShape("list")
	case *syntax.DictExpr:
		return methodShape("dict")
	case *syntax.DotExpr:
		if of := w.shapeOf(p, x.X, depth+1); of != nil && of.member != nil {
			return of.member(x.Name.Name)
		}
	case *syntax.CallExpr:
		return w.structShape(p, x, depth)
	case *syntax.Ident:
		return w.nameShape(p, x, depth)
	}
	return nil
}

func methodShape(typ string) *shape {
	s := &shape{of: typ}
	for _, e := range language.Methods(typ) {
		s.names = append(s.names, e.Name)
	}
	return s
}

// moduleShape returns the shape of a module of the language.
func moduleShape(module string) *shape {
	s := &shape{of: module}
	for _, e := range language.Members(module) {
		s.names = append(s.names, memberName(e))
	}
	s.member = func(name string) *shape {
		if e := language.Lookup(module + "." + name); e.Is(language.Module) {
			return moduleShape(e.Name)
		}
		return nil
	}
	return s
}

// predeclared returns the name that an expression is, and whether it is a name of the language.
func predeclared(x syntax.Expr) (string, bool) {
	id, ok := x.(*syntax.Ident)
	if !ok {
		return "", false
	}
	b, ok := id.Binding.(*resolve.Binding)
	return id.Name, ok && b.Scope == resolve.Predeclared
}

// structShape returns the shape of a value that struct() or module() makes, if all its fields are named.
func (w *workspace) structShape(p *program, call *syntax.CallExpr, depth int) *shape {
	if fn, ok := predeclared(call.Fn); !ok || !slices.Contains([]string{"struct", "module"}, fn) {
		return nil
	}
	fields := map[string]syntax.Expr{}
	s := &shape{of: "the struct"}
	for i, arg := range call.Args {
		switch id, x := keywordArgument(arg); {
		case id != nil:
			fields[id.Name] = x
			s.names = append(s.names, id.Name)
		case i > 0 || isStars(arg):
			return nil
		}
	}
	s.member = func(name string) *shape {
		if x := fields[name]; x != nil {
			return named(w.shapeOf(p, x, depth+1), name)
		}
		return nil
	}
	return s
}

// keywordArgument returns the keyword and the value of an argument; nil if it has no keyword.
func keywordArgument(arg syntax.Expr) (*syntax.Ident, syntax.Expr) {
	b, ok := arg.(*syntax.BinaryExpr)
	if !ok || b.Op != syntax.EQ {
		return nil, nil
	}
	id, _ := b.X.(*syntax.Ident) // always: the parser takes nothing else
	return id, b.Y
}

// isStars reports whether an argument is *args or **kwargs.
func isStars(x syntax.Expr) bool {
	u, ok := x.(*syntax.UnaryExpr)
	return ok && slices.Contains([]syntax.Token{syntax.STAR, syntax.STARSTAR}, u.Op)
}

// nameShape returns the shape of a name's value.
func (w *workspace) nameShape(p *program, id *syntax.Ident, depth int) *shape {
	if name, ok := predeclared(id); ok {
		if language.Lookup(name).Is(language.Module) {
			return moduleShape(name)
		}
		return nil
	}
	if p.bound[id.Name] != 1 {
		return nil
	}
	if x := p.values[id.Name]; x != nil {
		return named(w.shapeOf(p, x, depth+1), id.Name)
	}
	from, ok := p.loaded[id.Name]
	if !ok {
		return nil
	}
	d := w.loadedBy(p.doc, from.file)
	if d == nil {
		return nil
	}
	other, err := d.program()
	if err != nil || other.bound[from.remote] != 1 {
		return nil
	}
	s := named(w.shapeOf(other, other.values[from.remote], depth+1), id.Name)
	if s != nil {
		s.elsewhere = true
	}
	return s
}

// named gives the shape of a struct the name by which it is used.
func named(s *shape, name string) *shape {
	if s != nil && strings.HasPrefix(s.of, "the struct") {
		s.of = name
	}
	return s
}

// mostMembers is the most members that a message lists.
const mostMembers = 12

// memberFaults finds uses of members that modules, structs and plain values lack. Values that are not known are not
// checked.
func (w *workspace) memberFaults(p *program) []fault {
	var out []fault
	syntax.Walk(p.file, func(n syntax.Node) bool {
		dot, ok := n.(*syntax.DotExpr)
		if !ok || p.asked[dot.Name.Name] {
			return true
		}
		s := w.shapeOf(p, dot.X, 0)
		if s == nil || slices.Contains(s.names, dot.Name.Name) {
			return true
		}
		from := offsetOf(p.doc, dot.Name.NamePos)
		f := fault{from, from + len(dot.Name.Name), severityError, s.lacks(dot.Name.Name)}
		if s.elsewhere {
			f.severity = severityWarning
		}
		out = append(out, f)
		return true
	})
	return out
}

// lacks returns the message for a missing member, with the existing ones.
func (s *shape) lacks(name string) string {
	hint := didYouMean(name, s.names)
	switch {
	case hint != "" || len(s.names) > mostMembers:
	case len(s.names) == 0:
		hint = " (it has none)"
	default:
		hint = " (it has " + strings.Join(s.names, ", ") + ")"
	}
	return fmt.Sprintf("%s has no member %s%s", s.of, name, hint)
}
