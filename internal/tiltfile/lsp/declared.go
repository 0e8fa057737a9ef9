package lsp

import (
	"path/filepath"
	"strings"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// mostFiles bounds how many files are read for what one document depends on.
const mostFiles = 100

// declared is what a project says about where extensions are, as far as that is known without running it.
type declared struct {
	extension.Registry
	// repos and extensions are names of which two things are said, or none that is known; anything is set where not even
	// the name is known.
	repos, extensions map[string]bool
	anything          bool
}

// declared returns what counts where a document is loaded: what the document says, what it loads and includes, and what is
// said in the open documents that lead to it.
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

// closure returns a document and the files of the project that it loads and includes, however far.
func (w *workspace) closure(from *document) []*document {
	files, seen := []*document{from}, map[string]bool{from.path: true}
	for i := 0; i < len(files) && len(files) < mostFiles; i++ {
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

// dependencies are the names of what the text loads and includes.
func (o *outline) dependencies() []string {
	var out []string
	for _, l := range o.loads {
		out = append(out, l.file)
	}
	for _, name := range []string{"include", "load_dynamic"} {
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
	parts := strings.Split(name, ".")
	var out []frame
	for i := range o.tokens {
		last := i - 1
		if !o.is(i, "(") || last < 0 || o.word(last) != parts[len(parts)-1] {
			continue
		}
		if e := o.entryOf(last); e != nil && e.Name == name && e.Of == "" {
			out = append(out, o.frame(i, len(o.text)+1))
		}
	}
	return out
}

// read adds what a file says.
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
			_ = g.AddRepo(r) // so that what it serves is found to be unknown
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

// locate returns what an extension's name means; false where that is not known.
func (g *declared) locate(name string) (extension.Location, bool) {
	if g.anything || g.extensions[name] {
		return extension.Location{}, false
	}
	at, err := g.Resolve(name)
	return at, err == nil && !g.repos[at.Repo.Name]
}

// arguments are those of a call that can be known without running it.
type arguments struct {
	doc *document
	frame
	// unknown is set once an argument was asked for whose value is not known.
	unknown bool
}

// text returns an argument, empty for one that is not given.
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

// textValue is the text that an expression is, where only the document's folder decides about it.
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
		// The folder of the main Tiltfile is known where the document is one.
		return d.folder(), dotted(x) == "config.main_dir" && filepath.Base(d.path) == extension.Entry
	case *syntax.CallExpr:
		return d.pathValue(x)
	}
	return "", false
}

// pathValue is what a call about paths returns.
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

// dotted is the name that an expression is, with its modules; empty when it is none.
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
