package compose

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"

	"github.com/hone-dev/hone/pkg/model"
)

// Options describe the files of a project, and the environment in which they are read.
type Options struct {
	// Files are merged in this order. An empty list stands for the files of COMPOSE_FILE.
	Files []model.ComposeFile
	// Base is the absolute path of the folder to which paths in the environment are relative. It is also the project's
	// folder if no file is on disk.
	Base string
	// EnvFiles provide variables that the environment lacks. Nil stands for the files of COMPOSE_ENV_FILES, else the .env in the
	// project's folder.
	EnvFiles []string
	// Name is the project's name. Empty stands for COMPOSE_PROJECT_NAME, else the name: of the files, else the name of the folder.
	Name string
	// Profiles are the active profiles; nil stands for the profiles of COMPOSE_PROFILES, an empty list for none.
	Profiles []string
	// Env is the environment. The environment of the process is not used.
	Env map[string]string
	// Read reads a file. It is called for every file that the project depends on, including optional files that do not
	// exist, and for some files more than once.
	Read func(path string) ([]byte, error)
}

// Source is a project whose files have been read and whose name is known, but which has not been evaluated yet.
type Source struct {
	// Project has all fields except Wait and Env, which the caller sets.
	Project model.ComposeProject

	opts  Options
	env   map[string]string
	trace *trace
	unset map[string]bool
}

// ErrNoFiles means that neither the options nor the environment name a Compose file.
var ErrNoFiles = errors.New("no Compose file is named")

// Open reads the files of a project, and the files that they include and extend. It returns ErrNoFiles, or an error as from
// Source.Load.
func Open(o Options) (*Source, error) {
	s := &Source{opts: o, env: maps.Clone(o.Env), unset: map[string]bool{}}
	if s.env == nil {
		s.env = map[string]string{}
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	dir := folder(files, o.Base)
	s.Project = model.ComposeProject{Dir: dir, Files: files}
	if err := s.environment(dir); err != nil {
		return nil, err
	}
	s.Project.Profiles = s.profiles()
	s.trace = &trace{read: o.Read, visited: map[string]bool{}}
	for _, f := range files {
		if err := s.trace.main(f, dir, s.env); err != nil {
			return nil, err
		}
	}
	s.Project.Name, err = s.name(dir)
	return s, err
}

// files returns the files of the options, or those that the environment names.
func (s *Source) files() ([]model.ComposeFile, error) {
	if len(s.opts.Files) > 0 {
		return s.opts.Files, nil
	}
	if err := s.environment(s.opts.Base); err != nil {
		return nil, err
	}
	sep := s.env["COMPOSE_PATH_SEPARATOR"]
	if sep == "" {
		sep = string(filepath.ListSeparator)
	}
	var out []model.ComposeFile
	for path := range strings.SplitSeq(s.env["COMPOSE_FILE"], sep) {
		if path = strings.TrimSpace(path); path != "" {
			out = append(out, model.ComposeFile{Path: absolute(s.opts.Base, path)})
		}
	}
	if len(out) == 0 {
		return nil, ErrNoFiles
	}
	return out, nil
}

// folder returns the folder of the first file on disk.
func folder(files []model.ComposeFile, base string) string {
	for _, f := range files {
		if f.Path != "" {
			return filepath.Dir(f.Path)
		}
	}
	return base
}

func (s *Source) profiles() []string {
	if s.opts.Profiles != nil {
		return s.opts.Profiles
	}
	return splitList(s.env["COMPOSE_PROFILES"])
}

// name finds the project's name as Compose does.
func (s *Source) name(dir string) (string, error) {
	for _, given := range []struct{ name, by string }{{s.opts.Name, "project_name"}, {s.env["COMPOSE_PROJECT_NAME"], "COMPOSE_PROJECT_NAME"}} {
		if given.name == "" {
			continue
		}
		if loader.NormalizeProjectName(given.name) != given.name {
			return "", fmt.Errorf("%s: %q is not the name of a project: lower-case letters, digits, '-' and '_', beginning with a letter or digit", given.by, given.name)
		}
		return given.name, nil
	}
	name := ""
	for _, d := range s.trace.files {
		for _, root := range d.roots {
			if n := scalar(child(root, "name")); n != "" {
				name = n
			}
		}
	}
	if name, _ = substitute(name, s.env, nil); loader.NormalizeProjectName(name) == "" {
		name = filepath.Base(dir)
	}
	if name = loader.NormalizeProjectName(name); name == "" {
		return "", fmt.Errorf("no name for the project can be derived from the folder %s: give project_name=", dir)
	}
	return name, nil
}

// Files returns the absolute paths of the project's Compose files, including included and extended ones, sorted.
func (s *Source) Files() []string {
	var out []string
	for _, d := range s.trace.documents {
		if d.path != "" && !slices.Contains(out, d.path) {
			out = append(out, d.path)
		}
	}
	slices.Sort(out)
	return out
}

// Unset returns the variables in the files that are not set and have no default, sorted. Call it after Load.
func (s *Source) Unset() []string { return slices.Sorted(maps.Keys(s.unset)) }

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// splitList returns the elements of a comma-separated list.
func splitList(list string) []string {
	var out []string
	for e := range strings.SplitSeq(list, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
