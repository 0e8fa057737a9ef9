package extension

import (
	"fmt"
	"maps"
	"strings"
)

// Registry holds the repositories and extensions that one evaluation has declared so far. The zero value has the
// embedded extensions and the public repository. It must not be used by several goroutines at once.
type Registry struct {
	repos      map[string]Repo
	extensions map[string]Extension
}

// Location is the place of an extension.
type Location struct {
	// Name is the requested name.
	Name string
	// Embedded is the name of the embedded extension; if it is set, the fields below are empty.
	Embedded string
	Repo     Repo
	// Path is the extension's folder below the repository's GitSubpath, with slashes.
	Path string
}

// AddRepo declares a repository. Declaring the same one again is harmless; a different one of the same name is an
// error.
func (g *Registry) AddRepo(r Repo) error {
	r.URL = strings.TrimSuffix(r.URL, "/")
	if err := r.check(); err != nil {
		return err
	}
	if other, ok := g.repos[r.Name]; ok && other != r {
		return fmt.Errorf("there is already a repository %q, %s", r.Name, other)
	}
	for _, other := range g.repos {
		if r.LoadHost != "" && other.Name != r.Name && other.LoadHost == r.LoadHost {
			return fmt.Errorf("load_host %q already leads to repository %q", r.LoadHost, other.Name)
		}
	}
	if g.repos == nil {
		g.repos = map[string]Repo{}
	}
	g.repos[r.Name] = r
	return nil
}

// Clone returns an independent copy of the registry.
func (g Registry) Clone() Registry { return Registry{maps.Clone(g.repos), maps.Clone(g.extensions)} }

// AddExtension declares an extension. Its repository may be declared later.
func (g *Registry) AddExtension(e Extension) error {
	if e.RepoName == "" {
		e.RepoName = DefaultRepo
	}
	if e.RepoPath == "" {
		e.RepoPath = e.Name
	}
	if err := checkPath(e.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if err := checkPath(e.RepoPath); err != nil {
		return fmt.Errorf("repo_path: %w", err)
	}
	if other, ok := g.extensions[e.Name]; ok && other != e {
		return fmt.Errorf("there is already an extension %q, folder %s of repository %q", e.Name, other.RepoPath, other.RepoName)
	}
	if g.extensions == nil {
		g.extensions = map[string]Extension{}
	}
	g.extensions[e.Name] = e
	return nil
}

// Resolve finds the extension that ext://name means: a declared extension of that name; else a folder of the repository
// whose LoadHost is the longest prefix of the name; else a folder of the default repository. If the default repository
// is not declared, embedded extensions take precedence over public ones.
func (g *Registry) Resolve(name string) (Location, error) {
	if err := checkPath(name); err != nil {
		return Location{}, err
	}
	if e, ok := g.extensions[name]; ok {
		return g.at(name, e.RepoName, e.RepoPath)
	}
	var found Repo
	for _, r := range g.repos {
		if r.LoadHost != "" && strings.HasPrefix(name, r.LoadHost+"/") && len(r.LoadHost) > len(found.LoadHost) {
			found = r
		}
	}
	if found.LoadHost != "" {
		return Location{Name: name, Repo: found, Path: strings.TrimPrefix(name, found.LoadHost+"/")}, nil
	}
	return g.at(name, DefaultRepo, name)
}

// at returns the location of a folder in the repository of a given name.
func (g *Registry) at(name, repo, path string) (Location, error) {
	r, declared := g.repos[repo]
	switch {
	case declared:
		return Location{Name: name, Repo: r, Path: path}, nil
	case repo != DefaultRepo:
		return Location{}, fmt.Errorf("extension %q is declared in repository %q, which is not declared itself", name, repo)
	case IsEmbedded(path):
		return Location{Name: name, Embedded: path}, nil
	}
	return Location{Name: name, Repo: Public, Path: path}, nil
}
