package interpreter

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/file"
)

// module is a file that was executed; a file runs once per evaluation.
type module struct {
	globals starlark.StringDict
	err     error
	loading bool
}

// Run runs a file, or returns the result of its earlier run.
func (i *Interpreter) Run(path string) (starlark.StringDict, error) {
	if m := i.modules[path]; m != nil {
		if m.loading {
			return nil, i.cycle(path)
		}
		return m.globals, m.err
	}
	m := &module{loading: true}
	i.modules[path] = m
	m.globals, m.err = i.execSource(path)
	m.loading = false
	return m.globals, m.err
}

func (i *Interpreter) execSource(path string) (starlark.StringDict, error) {
	src, err := i.moduleSource(path)
	if err != nil {
		return nil, i.missing(path, err)
	}
	i.Texts[path] = string(src)
	i.Running = append(i.Running, path)
	defer func() { i.Running = i.Running[:len(i.Running)-1] }()
	env := make(starlark.StringDict, len(i.Predeclared)+2)
	for k, v := range i.Predeclared {
		env[k] = v
	}
	env["__file__"] = starlark.String(path)
	env["__name__"] = starlark.String(filepath.Base(path))
	if extension.IsEmbeddedPath(path) {
		env["native"] = i.Native
	}
	if path == i.Main {
		env["__name__"] = starlark.String("__main__")
	}
	return i.Execute(path, i.Texts[path], env)
}

// missing explains why a file could not be read. The root Tiltfile has no line that loads it.
func (i *Interpreter) missing(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && path == i.Main:
		p := problem.New("there is no Tiltfile here", "write one: a running session picks it up at once; or name another file: -f PATH")
		return i.Placed(fault.Site{File: path}, p.Summary, p)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist%s", path, i.Sibling(path))
	case file.IsDir(path):
		return fmt.Errorf("%s is a folder; name the file in it, e.g. %q", path, filepath.Join(path, "Tiltfile"))
	}
	return err
}

func (i *Interpreter) cycle(path string) error {
	from := max(0, slices.Index(i.Running, path))
	return fmt.Errorf("files load each other in a circle: %s", strings.Join(append(slices.Clone(i.Running[from:]), path), " → "))
}

// loadModule serves load statements.
func (i *Interpreter) loadModule(name string) (starlark.StringDict, error) {
	path, err := i.modulePath(name)
	if err != nil {
		return nil, err
	}
	return i.Run(path)
}

// modulePath finds the file that a name means in load, load_dynamic and include.
func (i *Interpreter) modulePath(name string) (string, error) {
	if ext, ok := strings.CutPrefix(name, extension.Scheme); ok {
		return i.ExtensionPath(ext)
	}
	if scheme, _, ok := strings.Cut(name, "://"); ok {
		return "", problem.New(
			fmt.Sprintf("only files and extensions can be loaded, not %s://", scheme),
			"copy the file into the project and load it from there, or put it into a repository of extensions")
	}
	return i.Abs(name), nil
}

func (i *Interpreter) loadDynamic(c *eval.Call) (starlark.Value, error) {
	var path string
	if err := c.Unpack("path", &path); err != nil {
		return nil, err
	}
	globals, err := i.loadModule(path)
	if err != nil {
		return nil, err
	}
	d := starlark.NewDict(len(globals))
	for _, k := range globals.Keys() {
		if err := d.SetKey(starlark.String(k), globals[k]); err != nil {
			return nil, err
		}
	}
	d.Freeze()
	return d, nil
}

func (i *Interpreter) include(c *eval.Call) (starlark.Value, error) {
	var path string
	if err := c.Unpack("path", &path); err != nil {
		return nil, err
	}
	_, err := i.loadModule(path)
	return nil, err
}
