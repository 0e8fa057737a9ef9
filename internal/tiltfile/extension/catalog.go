package extension

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Catalog finds extensions for programs that only read Tiltfiles, such as editors: the extensions that are part of
// hone, and those already in the store. It fetches nothing. Its methods may be called from any goroutine.
type Catalog struct{ Store *Store }

// Names returns the names of the extensions that are part of hone, sorted.
func (Catalog) Names() []string { return Embedded() }

// Find returns the path of an extension's Tiltfile, or only its text where it is part of hone. The error is
// fs.ErrNotExist for an extension that is not on this machine.
func (c Catalog) Find(at Location) (path, text string, err error) {
	if at.Embedded != "" {
		data, err := EmbeddedSource(at.Embedded)
		return "", string(data), err
	}
	dir, isFolder := at.Repo.folder()
	if !isFolder {
		copied, ok := c.Store.cached(at.Repo)
		if !ok {
			return "", "", fmt.Errorf("extension %q: there is no copy of %s: %w", at.Name, at.Repo, fs.ErrNotExist)
		}
		dir = copied.Dir
	}
	path = at.File(dir)
	if _, err := os.Stat(path); err != nil {
		return "", "", fmt.Errorf("extension %q: %w", at.Name, err)
	}
	return path, "", nil
}

// Unpack writes an extension that is part of hone to disk, for people to read, and returns the path of its Tiltfile.
func (c Catalog) Unpack(at Location) (string, error) {
	if !IsEmbedded(at.Embedded) {
		return "", fmt.Errorf("extension %q is not part of hone: %w", at.Name, fs.ErrNotExist)
	}
	dir, err := c.Store.EmbeddedDir(at.Embedded)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, Entry), nil
}

// Unpacked reports whether a file belongs to an unpacked extension.
func (c Catalog) Unpacked(path string) bool {
	return strings.HasPrefix(path, filepath.Join(c.Store.Dir, "embedded")+string(filepath.Separator))
}

// File is the path of the extension's Tiltfile, given the folder of its repository.
func (l Location) File(dir string) string {
	return filepath.Join(dir, filepath.FromSlash(l.Repo.GitSubpath), filepath.FromSlash(l.Path), Entry)
}
