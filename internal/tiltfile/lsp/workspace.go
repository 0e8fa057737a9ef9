package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// biggestFile is the size in bytes of the largest loaded file that is read.
const biggestFile = 1 << 20

// extensionScheme is the prefix of the names of extensions.
const extensionScheme = "ext://"

// workspace holds the open documents and the files that they load.
type workspace struct {
	// open are the documents that are open in the editor, by their URI.
	open       map[string]*document
	extensions Extensions
	// read caches the files that were read, by path.
	read map[string]readFile
}

// readFile is a file and its state when it was read.
type readFile struct {
	doc     *document
	modTime time.Time
	size    int64
}

func newWorkspace(e Extensions) workspace {
	return workspace{open: map[string]*document{}, extensions: e, read: map[string]readFile{}}
}

// loadedBy returns the file that a document loads by a name; nil if there is none.
func (w *workspace) loadedBy(from *document, name string) *document {
	ext, ok := strings.CutPrefix(name, extensionScheme)
	if !ok {
		path := w.resolve(from, name)
		if path == "" {
			return nil
		}
		return w.at(path)
	}
	at, known := w.extension(from, ext)
	if !known {
		return nil
	}
	path, text, err := w.extensions.Find(at)
	switch {
	case err != nil:
		return nil
	case path != "":
		return w.at(path)
	}
	return newDocument("", "", text)
}

// extension resolves the name of an extension that a document loads; false if the result is not known.
func (w *workspace) extension(from *document, name string) (extension.Location, bool) {
	if w.extensions == nil {
		return extension.Location{}, false
	}
	return w.declared(from).locate(name)
}

// pathOf returns the path of the file that a document loads by a name, for an editor to open; empty if there is none.
// An extension that is part of hone is written to disk for that.
func (w *workspace) pathOf(from *document, name string) string {
	file := w.loadedBy(from, name)
	switch {
	case file == nil:
		return ""
	case file.path != "":
		return file.path
	}
	at, known := w.extension(from, strings.TrimPrefix(name, extensionScheme))
	if !known {
		return ""
	}
	path, err := w.extensions.Unpack(at)
	if err != nil {
		return ""
	}
	return path
}

// at returns the file at a path: as open in the editor, else as on disk; nil if there is none.
func (w *workspace) at(path string) *document {
	for _, d := range w.open {
		if d.path == path {
			return d
		}
	}
	return w.file(path)
}

// resolve returns the absolute path that a name in a document means; empty if it cannot be known.
func (w *workspace) resolve(from *document, name string) string {
	switch {
	case name == "" || strings.Contains(name, "://"):
		return ""
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	case from.path == "":
		return ""
	}
	return filepath.Join(filepath.Dir(from.path), name)
}

// file returns a file, and reads it again if it has changed.
func (w *workspace) file(path string) *document {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > biggestFile {
		delete(w.read, path)
		return nil
	}
	if f, ok := w.read[path]; ok && f.modTime.Equal(info.ModTime()) && f.size == info.Size() {
		return f.doc
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	d := newDocument(uriOf(path), path, string(text))
	w.read[path] = readFile{d, info.ModTime(), info.Size()}
	return d
}

// link sets the entries of the names that a document loads to the entries in their files.
func (w *workspace) link(d *document) {
	for _, def := range d.outline().defs {
		if def.kind != definedLoad {
			continue
		}
		def.entry = nil
		if target, file := w.target(d, def); target != nil && file != nil {
			def.entry = target.entry
		}
	}
}

// target returns the definition of a loaded name, and its file.
func (w *workspace) target(from *document, def *definition) (*definition, *document) {
	file := w.loadedBy(from, def.file)
	if file == nil {
		return nil, nil
	}
	for _, e := range file.outline().exports() {
		if e.name == def.remote {
			return e, file
		}
	}
	return nil, file
}

// mostPaths is the most files of a folder that are offered.
const mostPaths = 500

// pathEntry is a file or folder to complete.
type pathEntry struct {
	name string
	dir  bool
}

// paths lists the folder of a partial path. Hidden files are listed only if the last part begins with a dot.
func (w *workspace) paths(from *document, begun string) []pathEntry {
	dir, base := "", begun
	if i := strings.LastIndex(begun, "/"); i >= 0 {
		dir, base = begun[:i+1], begun[i+1:]
	}
	if dir == "" {
		dir = "."
	}
	full := w.resolve(from, dir)
	if full == "" {
		return nil
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil
	}
	var out []pathEntry
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".") || len(out) == mostPaths {
			continue
		}
		isDir := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(full, e.Name()))
			isDir = err == nil && info.IsDir()
		}
		out = append(out, pathEntry{e.Name(), isDir})
	}
	return out
}

// extensionNames returns the names of the available extensions, sorted.
func (w *workspace) extensionNames() []string {
	if w.extensions == nil {
		return nil
	}
	names := slices.Clone(w.extensions.Names())
	slices.Sort(names)
	return names
}
