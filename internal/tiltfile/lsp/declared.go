package lsp

import (
	"path/filepath"
	"strings"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// mostFiles is the most files that are read for the dependencies of one document.
const mostFiles = 100

// declared holds the extensions and repositories that a project declares, as far as they are known without running it.
type declared struct {
	extension.Registry
	// repos and extensions are names whose declarations conflict or are not known; anything is set if not even the name
	// is known.
	repos, extensions map[string]bool
	anything          bool
}

// declared returns the declarations that apply to a document: its own, the ones in files that it loads or includes, and
// the ones in open documents that lead to it.
func (w *workspace) declared(from *document) *declared {
	files := w.closure(from)
	for _, d := range w.open {
		if d == from || from.path == "" {
			continue
		}
		for _, other := range w.closure(d) {
			if other.path == from.path {
				files = append(files, w.closure(d)...)
				break
			}
		}
	}
	out := &declared{repos: map[string]bool{}, extensions: map[string]bool{}}
	for _, d := range files {
		out.read(d)
	}
	return out
}

// closure returns a document and the files of the project that it loads and includes, directly or indirectly.
func (w *workspace) closure(from *document) []*document {
	files, seen := []*document{from}, map[string]bool{from.path: true}
	for i := 0; i < min(len(files), mostFiles); i++ {
		for _, name := range files[i].outline().dependencies() {
			path := w.resolve(files[i], name)
			if path == "" || seen[path] {
				continue
			}
			seen[path] = true
			if d := w.at(path); d != nil {
				files = append(files, d)
			}
		}
	}
	return files
}

// loaders are the builtins that load a file at the path that they are given.
var loaders = []string{"include", "load_dynamic"}

// dependencies returns the names of the files that the text loads and includes.
func (o *outline) dependencies() []string {
	var out []string
	for _, l := range o.loads {
		out = append(out, l.file)
	}
	for _, name := range loaders {
		for _, f := range o.calls(name) {
			if t, ok := f.texts["path"]; ok {
				out = append(out, o.str(t))
			}
		}
	}
	return out
}

// calls returns the calls of a function of the language, by its whole name.
func (o *outline) calls(name string) []frame {
	e := language.Lookup(name)
	var out []frame
	for i := range o.tokens {
		// The name is compared first: most brackets call something else.
		if o.is(i, "(") && o.is(i-1, memberName(e)) && o.entryOf(i-1) == e {
			out = append(out, o.frame(i, len(o.text)+1))
		}
	}
	return out
}

// read adds the declarations of a file.
func (g *declared) read(d *document) {
	for _, f := range d.outline().calls("v1alpha1.extension_repo") {
		a := arguments{doc: d, frame: f}
		r := extension.Repo{Name: a.text("name"), LoadHost: a.text("load_host"), GitSubpath: a.text("git_subpath")}
		known := !a.unknown
		r.URL, r.Ref = a.text("url"), a.text("ref")
		switch {
		case r.Name == "" || !known:
			g.anything = true
		case a.unknown:
			g.repos[r.Name] = true
			r.URL, r.Ref = extension.PublicURL, ""
			_ = g.AddRepo(r) // so that its extensions are found, and found to be unknown
		case g.AddRepo(r) != nil:
			g.repos[r.Name] = true
		}
	}
	for _, f := range d.outline().calls("v1alpha1.extension") {
		a := arguments{doc: d, frame: f}
		e := extension.Extension{Name: a.text("name")}
		known := !a.unknown
		e.RepoName, e.RepoPath = a.text("repo_name"), a.text("repo_path")
		switch {
		case e.Name == "" || !known:
			g.anything = true
		case a.unknown || g.AddExtension(e) != nil:
			g.extensions[e.Name] = true
		}
	}
}

// locate resolves the name of an extension; false if the result is not known.
func (g *declared) locate(name string) (extension.Location, bool) {
	if g.anything || g.extensions[name] {
		return extension.Location{}, false
	}
	at, err := g.Resolve(name)
	return at, err == nil && !g.repos[at.Repo.Name]
}

// arguments reads the arguments of a call that are known without running it.
type arguments struct {
	doc *document
	frame
	// unknown is set once an argument with an unknown value is requested.
	unknown bool
}

// text returns the value of an argument; empty if it is not given.
func (a *arguments) text(param string) string {
	tokens, given := a.spans[param]
	if !given {
		a.unknown = a.unknown || a.stars
		return ""
	}
	o := a.doc.outline()
	if tokens[0] >= tokens[1] {
		a.unknown = true
		return ""
	}
	x, err := dialect.ParseExpr("", o.text[o.tokens[tokens[0]].start:o.tokens[tokens[1]-1].end], 0)
	if err != nil {
		a.unknown = true
		return ""
	}
	value, known := a.doc.textValue(x)
	a.unknown = a.unknown || !known
	return value
}

// textValue returns the text of an expression that depends only on the document's folder.
func (d *document) textValue(x syntax.Expr) (string, bool) {
	switch x := x.(type) {
	case *syntax.Literal:
		return textOf(x)
	case *syntax.ParenExpr:
		return d.textValue(x.X)
	case *syntax.BinaryExpr:
		left, ok := d.textValue(x.X)
		right, also := d.textValue(x.Y)
		return left + right, ok && also && x.Op == syntax.PLUS
	case *syntax.DotExpr:
		// The folder of the main Tiltfile is known if the document is a Tiltfile.
		return d.folder(), dotted(x) == "config.main_dir" && filepath.Base(d.path) == extension.Entry
	case *syntax.CallExpr:
		return d.pathValue(x)
	}
	return "", false
}

// pathValue returns the result of a call of a path function.
func (d *document) pathValue(call *syntax.CallExpr) (string, bool) {
	var parts []string
	for _, arg := range call.Args {
		part, ok := d.textValue(arg)
		if !ok {
			return "", false
		}
		parts = append(parts, part)
	}
	if d.path == "" {
		return "", false
	}
	switch fn := dotted(call.Fn); {
	case fn == "os.getcwd" && len(parts) == 0:
		return d.folder(), true
	case fn == "os.path.abspath" && len(parts) == 1:
		if filepath.IsAbs(parts[0]) {
			return filepath.Clean(parts[0]), true
		}
		return filepath.Join(d.folder(), parts[0]), true
	case fn == "os.path.join" && len(parts) > 0:
		out := parts[0]
		for _, p := range parts[1:] {
			if filepath.IsAbs(p) {
				out = p
			} else {
				out = strings.TrimSuffix(out, "/") + "/" + p
			}
		}
		return out, true
	}
	return "", false
}

func (d *document) folder() string {
	if d.path == "" {
		return ""
	}
	return filepath.Dir(d.path)
}

// dotted returns the dotted name that an expression is; empty if it is not a name.
func dotted(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.Ident:
		return x.Name
	case *syntax.DotExpr:
		if of := dotted(x.X); of != "" {
			return of + "." + x.Name.Name
		}
	}
	return ""
}
