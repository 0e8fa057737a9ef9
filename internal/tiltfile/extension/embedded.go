package extension

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Entry is the name of the file that runs when an extension is loaded.
const Entry = "Tiltfile"

// The folders below embedded are the extensions that are part of hone.
//
//go:embed embedded
var embedded embed.FS

// Embedded returns the names of the extensions that are part of hone, sorted.
func Embedded() []string {
	entries, err := embedded.ReadDir("embedded")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// IsEmbedded reports whether an extension is part of hone.
func IsEmbedded(name string) bool {
	_, err := EmbeddedSource(name)
	return err == nil
}

// EmbeddedSource returns the Tiltfile of an extension that is part of hone; the error is fs.ErrNotExist for others.
func EmbeddedSource(name string) ([]byte, error) {
	return embedded.ReadFile(path.Join("embedded", name, Entry))
}

// HasFiles reports whether an embedded extension consists of more than its Tiltfile, so that it needs a folder on disk.
func HasFiles(name string) bool {
	entries, err := embedded.ReadDir(path.Join("embedded", name))
	return err == nil && len(entries) > 1
}

// EmbeddedDir returns the folder with the files of an embedded extension. Each version of the files has its own folder,
// written once, so that several versions of hone do not interfere with each other.
func (s *Store) EmbeddedDir(name string) (string, error) {
	root := path.Join("embedded", name)
	sum, err := contentSum(root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(s.Dir, "embedded", name+"-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	err = s.place(dir, func(tmp string) error { return writeTree(root, tmp) })
	if err != nil {
		return "", problem.Wrap(err, fmt.Sprintf("cannot write the files of extension %q to %s", name, s.Dir),
			"make the folder writable, or set XDG_DATA_HOME to one that is")
	}
	return dir, nil
}

// contentSum identifies the content of an embedded folder.
func contentSum(root string) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(embedded, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(p)
		fmt.Fprintf(h, "%s %d\n", p, len(data))
		_, _ = h.Write(data)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:6]), err
}

// writeTree writes an embedded folder to dir.
func writeTree(root, dir string) error {
	return fs.WalkDir(embedded, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(p, root)))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		return writeFile(p, to)
	})
}

// writeFile writes one embedded file; all but Tiltfiles are executable. A Tiltfile is read-only: a change would have no
// effect, since hone evaluates the embedded one.
func writeFile(from, to string) error {
	content, err := embedded.ReadFile(from)
	if err != nil {
		return err
	}
	mode := os.FileMode(0o755)
	if path.Base(from) == Entry {
		mode = 0o444
	}
	return os.WriteFile(to, content, mode)
}
