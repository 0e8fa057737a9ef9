package tiltfile

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// extScheme is how the names of extensions begin in load statements.
const extScheme = "ext://"

// extensions are what an evaluation knows of extensions.
type extensions struct {
	extension.Registry
	store extension.Store
	// folders maps the pseudo paths of embedded extensions to the folders of their files; a folder need not exist for an
	// extension that consists of its Tiltfile only.
	folders map[string]string
}

// isEmbedded reports whether a path is that of an extension that is part of hone: it has no file.
func isEmbedded(path string) bool { return strings.HasPrefix(path, extScheme) }

// extensionPath finds the file that ext://name means, and fetches its repository where that is necessary.
func (s *state) extensionPath(name string) (string, error) {
	at, err := s.ext.Resolve(name)
	switch {
	case err != nil:
		return "", err
	case at.Embedded != "":
		return s.embeddedPath(at.Embedded)
	}
	copied, err := s.ext.store.Checkout(s.ctx, at.Repo)
	if err != nil {
		return "", extensionProblem(at, err)
	}
	if copied.Pin != "" {
		s.config.add(copied.Pin)
	}
	path := at.File(copied.Dir)
	if !fileExists(path) {
		if copied.Commit == "" {
			s.config.add(path)
		}
		return "", noSuchExtension(at, copied, path)
	}
	return path, nil
}

// embeddedPath returns the pseudo path of an extension that is part of hone.
func (s *state) embeddedPath(name string) (string, error) {
	path := extScheme + name + "/" + extension.Entry
	if _, known := s.ext.folders[path]; known {
		return path, nil
	}
	dir := filepath.Join(s.ext.store.Dir, "embedded", name)
	if extension.HasFiles(name) {
		var err error
		if dir, err = s.ext.store.EmbeddedDir(name); err != nil {
			return "", err
		}
	}
	if s.ext.folders == nil {
		s.ext.folders = map[string]string{}
	}
	s.ext.folders[path] = dir
	return path, nil
}

// extensionProblem says which extension could not be had, and which can be.
func extensionProblem(at extension.Location, err error) error {
	cause, ok := problem.Of(err)
	if !ok {
		return err
	}
	summary := fmt.Sprintf("extension %q", at.Name)
	if at.Repo == extension.Public {
		summary += " is not part of hone" + didYouMean(at.Name, extension.Embedded())
	}
	p := problem.Wrap(err, summary, cause.Mend)
	p.Detail, p.Link = cause.Detail, cause.Link
	return p
}

// noSuchExtension says that a repository does not hold what was asked for.
func noSuchExtension(at extension.Location, copied extension.Checkout, path string) error {
	hint := didYouMean(at.Name, extension.Embedded())
	if copied.Commit == "" {
		return problem.New(fmt.Sprintf("there is no extension %q: %s does not exist%s", at.Name, path, hint),
			"write it, or correct the name or the url of the repository")
	}
	return problem.New(
		fmt.Sprintf("there is no extension %q in %s (commit %.12s)%s", at.Name, at.Repo, copied.Commit, hint),
		"correct the name; or, if it is new in the repository, fetch what is there now:\nhone extensions update")
}

// moduleSource returns the text of a file that is to be executed.
func (s *state) moduleSource(path string) ([]byte, error) {
	if !isEmbedded(path) {
		return s.readUpTo(path, mostSource)
	}
	name := strings.TrimSuffix(strings.TrimPrefix(path, extScheme), "/"+extension.Entry)
	return extension.EmbeddedSource(name)
}
