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

// Options say which files make a project, and with which surroundings they are read.
type Options struct {
	// Files are merged in this order. None means those of COMPOSE_FILE.
	Files []model.ComposeFile
	// Base is the absolute path of the folder that paths in the environment start from. It is the project's folder too
	// where no file is on disk.
	Base string
	// EnvFiles give variables that the environment lacks; none means those of COMPOSE_ENV_FILES, else the .env in the
	// project's folder.
	EnvFiles []string
	// Name is the project's name. Empty means COMPOSE_PROJECT_NAME, else the name: of the files, else that of the folder.
	Name string
	// Profiles are the active profiles; nil means those of COMPOSE_PROFILES, an empty list none.
	Profiles []string
	// Env is the environment. The process' own is not looked at.
	Env map[string]string
	// Read reads a file. It is called for every file that the project depends on, also for those that do not exist and
	// need not, and for some more than once.
	Read func(path string) ([]byte, error)
}

// Source is a project whose files have been found, and whose name is known, before the files are taken to mean anything.
type Source struct {
	// Project has all fields but Wait and Env, which are for the caller to say.
	Project model.ComposeProject

	opts  Options
	env   map[string]string
	trace *trace
	unset map[string]bool
}

// ErrNoFiles says that neither the options nor the environment name a Compose file.
var ErrNoFiles = errors.New("no Compose file is named")

// Open reads the files of a project, with those that they include and extend. Its errors are as those of Source.Load,
// and ErrNoFiles.
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
		return "", fmt.Errorf("the folder %s gives no name for the project: give project_name=", dir)
	}
	return name, nil
}

// Files returns the absolute paths of the Compose files that the project consists of, included and extended ones too,
// sorted.
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

// Unset returns the variables that the files use, that are not set anywhere and have no default, sorted. It is known
// after Load.
func (s *Source) Unset() []string { return slices.Sorted(maps.Keys(s.unset)) }

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// splitList returns the elements of a list with commas.
func splitList(list string) []string {
	var out []string
	for e := range strings.SplitSeq(list, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
