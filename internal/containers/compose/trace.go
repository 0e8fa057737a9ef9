package compose

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/hone-dev/hone/pkg/model"
)

// trace follows the files that Compose files include and extend, by the rules of Compose, to collect the files and
// their lines. It reports errors in the YAML; the loader reports all others.
type trace struct {
	read func(path string) ([]byte, error)
	// files are the files that the project names. documents are all files, in the order in which they were found.
	files     []*document
	documents []*document
	// services are the names of services. The services of the project's own files come first.
	services []string
	visited  map[string]bool
}

// main follows a file that the project names.
func (t *trace) main(f model.ComposeFile, dir string, env map[string]string) error {
	label, data := f.Source, []byte(f.Content)
	if f.Path != "" {
		var err error
		if data, err = t.read(f.Path); err != nil {
			return err
		}
		label = f.Path
	}
	d, err := t.add(f.Path, label, data)
	if err != nil {
		return err
	}
	t.files = append(t.files, d)
	return t.follow(d, dir, env)
}

func (t *trace) add(path, label string, data []byte) (*document, error) {
	d, err := parse(path, label, data)
	if err != nil {
		return nil, err
	}
	t.documents = append(t.documents, d)
	return d, nil
}

// follow adds the services of a file and follows the files that it refers to. Paths are relative to dir.
func (t *trace) follow(d *document, dir string, env map[string]string) error {
	for _, root := range d.roots {
		services := child(root, "services")
		for _, name := range keys(services) {
			if !slices.Contains(t.services, name) {
				t.services = append(t.services, name)
			}
			if err := t.extends(d, child(services, name), dir, env); err != nil {
				return err
			}
		}
		for _, n := range list(child(root, "include")) {
			if err := t.include(d, n, dir, env); err != nil {
				return err
			}
		}
	}
	return nil
}

// include follows one element of include: a path, or a mapping with one or more paths. The first path determines the
// folder of the included project.
func (t *trace) include(d *document, n *yaml.Node, dir string, env map[string]string) error {
	n = target(n)
	paths, projectDir := []*yaml.Node{n}, ""
	var envFiles []string
	if n != nil && n.Kind == yaml.MappingNode {
		paths = list(child(n, "path"))
		projectDir = expand(child(n, "project_directory"), env)
		for _, f := range list(child(n, "env_file")) {
			if f := expand(f, env); f != "" && f != "/dev/null" {
				envFiles = append(envFiles, absolute(dir, f))
			}
		}
	}
	inner := maps.Clone(env)
	for i, p := range paths {
		path := expand(p, env)
		if path == "" {
			continue
		}
		if err := local(d, p, path); err != nil {
			return err
		}
		path = absolute(dir, path)
		if i == 0 {
			if projectDir == "" {
				projectDir = filepath.Dir(path)
			}
			projectDir = absolute(dir, projectDir)
			if err := t.includedEnv(inner, envFiles, projectDir); err != nil {
				return err
			}
		}
		if err := t.file(d, p, path, projectDir, inner); err != nil {
			return err
		}
	}
	return nil
}

func (t *trace) includedEnv(env map[string]string, files []string, dir string) error {
	if files == nil {
		return addDefaultEnvFile(env, dir, t.read)
	}
	for _, f := range files {
		if !exists(t.read, f) {
			return nil // the loader reports it
		}
	}
	return addEnvFiles(env, files, t.read)
}

// file follows an included file.
func (t *trace) file(from *document, n *yaml.Node, path, dir string, env map[string]string) error {
	d, err := t.once("include "+path+" in "+dir, from, n, path)
	if d == nil || err != nil {
		return err
	}
	return t.follow(d, dir, env)
}

// once reads a file that a document refers to at n, or returns nil if the reference with this id was followed before.
func (t *trace) once(id string, from *document, n *yaml.Node, path string) (*document, error) {
	if t.visited[id] {
		return nil, nil
	}
	t.visited[id] = true
	data, err := t.read(path)
	if err != nil {
		return nil, missing(from, n, path, err)
	}
	return t.add(path, path, data)
}

// extends follows the file that a service extends, and the services that the extended service extends.
func (t *trace) extends(d *document, service *yaml.Node, dir string, env map[string]string) error {
	ext := child(service, "extends")
	n := child(ext, "file")
	path := expand(n, env)
	if path == "" {
		return nil
	}
	if err := local(d, n, path); err != nil {
		return err
	}
	return t.base(d, n, absolute(dir, path), expand(child(ext, "service"), env), env)
}

// base follows one service of a file that another service extends.
func (t *trace) base(from *document, n *yaml.Node, path, service string, env map[string]string) error {
	d, err := t.once("extend "+service+" of "+path, from, n, path)
	if d == nil || err != nil {
		return err
	}
	for _, root := range d.roots {
		services := child(root, "services")
		for name := service; name != ""; {
			id := "service " + name + " of " + path
			if t.visited[id] {
				break
			}
			t.visited[id] = true
			s := child(services, name)
			if err := t.extends(d, s, filepath.Dir(path), env); err != nil {
				return err
			}
			ext := child(s, "extends")
			name = expand(ext, env)
			if name == "" && child(ext, "file") == nil {
				name = expand(child(ext, "service"), env)
			}
		}
	}
	return nil
}

// expand returns the text of a scalar with its variables replaced. It returns an empty string on errors, which the
// loader reports.
func expand(n *yaml.Node, env map[string]string) string {
	text, err := substitute(scalar(n), env, nil)
	if err != nil {
		return ""
	}
	return text
}

// local rejects paths that are not local files: hone fetches nothing without being asked.
func local(d *document, n *yaml.Node, path string) error {
	scheme, _, remote := strings.Cut(path, "://")
	if !remote && !strings.HasPrefix(path, "git@") {
		return nil
	}
	if !remote {
		scheme = "git"
	}
	return &Error{File: d.label, Line: lineOf(n), Msg: fmt.Sprintf("%s cannot be read: only files can, and nothing is fetched by %s", path, scheme)}
}

// missing returns the error about a file that could not be read, placed where the file is named.
func missing(d *document, n *yaml.Node, path string, err error) error {
	msg := err.Error()
	if errors.As(err, new(*fs.PathError)) && errors.Is(err, fs.ErrNotExist) {
		msg = "there is no file " + path
	}
	return &Error{File: d.label, Line: lineOf(n), Msg: msg}
}

func lineOf(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	return n.Line
}
