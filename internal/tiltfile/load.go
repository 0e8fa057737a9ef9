package tiltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/base/problem"
)

// dialect is the Starlark that Tiltfiles are written in.
var dialect = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// module is a file that was executed; a file's body runs once per evaluation.
type module struct {
	globals starlark.StringDict
	err     error
	loading bool
}

// execFile runs a file, or returns what running it yielded before.
func (s *state) execFile(path string) (starlark.StringDict, error) {
	if m := s.modules[path]; m != nil {
		if m.loading {
			return nil, s.cycle(path)
		}
		return m.globals, m.err
	}
	m := &module{loading: true}
	s.modules[path] = m
	m.globals, m.err = s.execSource(path)
	m.loading = false
	return m.globals, m.err
}

func (s *state) execSource(path string) (starlark.StringDict, error) {
	src, err := s.moduleSource(path)
	if err != nil {
		return nil, s.missing(path, err)
	}
	s.sources[path] = string(src)
	s.running = append(s.running, path)
	defer func() { s.running = s.running[:len(s.running)-1] }()
	env := make(starlark.StringDict, len(s.predeclared)+2)
	for k, v := range s.predeclared {
		env[k] = v
	}
	env["__file__"] = starlark.String(path)
	env["__name__"] = starlark.String(filepath.Base(path))
	if isEmbedded(path) {
		env["native"] = s.native()
	}
	if path == s.main {
		env["__name__"] = starlark.String("__main__")
	}
	return s.run(path, s.sources[path], env)
}

// missing explains why a file could not be read. The root Tiltfile has no line that asks for it.
func (s *state) missing(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && path == s.main:
		p := problem.New("there is no Tiltfile here", "write one: a running session begins with it at once; or name another file: -f PATH")
		return &Error{File: path, Msg: p.Summary, cause: p}
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist%s", path, s.sibling(path))
	case isDir(path):
		return fmt.Errorf("%s is a folder; name the file in it, e.g. %q", path, filepath.Join(path, "Tiltfile"))
	}
	return err
}

func (s *state) cycle(path string) error {
	from := max(0, slices.Index(s.running, path))
	return fmt.Errorf("files load each other in a circle: %s", strings.Join(append(slices.Clone(s.running[from:]), path), " → "))
}

// loadModule serves load statements.
func (s *state) loadModule(name string) (starlark.StringDict, error) {
	path, err := s.modulePath(name)
	if err != nil {
		return nil, err
	}
	return s.execFile(path)
}

// modulePath finds the file that load, load_dynamic and include mean by a name.
func (s *state) modulePath(name string) (string, error) {
	if ext, ok := strings.CutPrefix(name, extScheme); ok {
		return s.extensionPath(ext)
	}
	if scheme, _, ok := strings.Cut(name, "://"); ok {
		return "", problem.New(
			fmt.Sprintf("only files and extensions can be loaded, not %s://", scheme),
			"copy the file into the project and load it from there, or put it into a repository of extensions")
	}
	return s.abs(name), nil
}

func loadDynamicBuiltin(c *call) (starlark.Value, error) {
	var path string
	if err := c.unpack("path", &path); err != nil {
		return nil, err
	}
	globals, err := c.loadModule(path)
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

func includeBuiltin(c *call) (starlark.Value, error) {
	var path string
	if err := c.unpack("path", &path); err != nil {
		return nil, err
	}
	_, err := c.loadModule(path)
	return nil, err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
