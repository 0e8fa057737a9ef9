package interpreter

import (
	"fmt"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
)

// ExtensionPath finds the file that ext://name means, and fetches its repository if necessary.
func (i *Interpreter) ExtensionPath(name string) (string, error) {
	at, err := i.Registry.Resolve(name)
	switch {
	case err != nil:
		return "", err
	case at.Embedded != "":
		return i.embeddedPath(at.Embedded)
	}
	over := i.Awaiting("the extension repository " + at.Repo.Name)
	copied, err := i.store.Checkout(i.Context, at.Repo)
	over()
	if err != nil {
		return "", extensionProblem(at, err)
	}
	if copied.Pin != "" {
		i.DependOn(copied.Pin)
	}
	path := at.File(copied.Dir)
	if !file.Exists(path) {
		if copied.Commit == "" {
			i.DependOn(path)
		}
		return "", noSuchExtension(at, copied, path)
	}
	return path, nil
}

// embeddedPath returns the pseudo path of an extension that is part of hone.
func (i *Interpreter) embeddedPath(name string) (string, error) {
	path := extension.EmbeddedPath(name)
	if _, known := i.Folders[path]; known {
		return path, nil
	}
	dir := filepath.Join(i.store.Dir, "embedded", name)
	if extension.HasFiles(name) {
		var err error
		if dir, err = i.store.EmbeddedDir(name); err != nil {
			return "", err
		}
	}
	if i.Folders == nil {
		i.Folders = map[string]string{}
	}
	i.Folders[path] = dir
	return path, nil
}

// extensionProblem names the extension that is not available, and suggests one that is.
func extensionProblem(at extension.Location, err error) error {
	cause, ok := problem.Of(err)
	if !ok {
		return err
	}
	summary := fmt.Sprintf("extension %q", at.Name)
	if at.Repo == extension.Public {
		summary += " is not part of hone" + hint.DidYouMean(at.Name, extension.Embedded())
	}
	p := problem.Wrap(err, summary, cause.Mend)
	p.Detail, p.Link = cause.Detail, cause.Link
	return p
}

// noSuchExtension reports that a repository does not contain the requested extension.
func noSuchExtension(at extension.Location, copied extension.Checkout, path string) error {
	hint := hint.DidYouMean(at.Name, extension.Embedded())
	if copied.Commit == "" {
		return problem.New(fmt.Sprintf("there is no extension %q: %s does not exist%s", at.Name, path, hint),
			"write it, or correct the name or the url of the repository")
	}
	return problem.New(
		fmt.Sprintf("there is no extension %q in %s (commit %.12s)%s", at.Name, at.Repo, copied.Commit, hint),
		"correct the name; or, if it is new in the repository, fetch what is there now:\nhone extensions update")
}

// moduleSource returns the text of a file that will be executed.
func (i *Interpreter) moduleSource(path string) ([]byte, error) {
	if !extension.IsEmbeddedPath(path) {
		return i.ReadUpTo(path, file.MostSource)
	}
	return extension.EmbeddedSource(extension.EmbeddedName(path))
}
