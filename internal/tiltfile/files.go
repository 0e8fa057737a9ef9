package tiltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"go.starlark.net/starlark"
)

// contents reads a file for a builtin; with a default a missing file is no error and found is false.
func (c *call) contents(path string, fallback starlark.Value) (content string, found bool, err error) {
	data, err := c.readFile(c.abs(path))
	switch {
	case err == nil:
		c.learnSecrets(string(data))
		return string(data), true, nil
	case errors.Is(err, fs.ErrNotExist) && fallback != nil:
		return "", false, nil
	}
	return "", false, c.unreadable(path, err)
}

// unreadable explains why a file could not be read, with the path as the Tiltfile wrote it.
func (c *call) unreadable(path string, err error) error {
	switch full := c.abs(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s%s", full, c.sibling(full))
	case isDir(full):
		return fmt.Errorf("%s is a folder, not a file", full)
	}
	return err
}

// sibling suggests the file in the same folder that was probably meant.
func (s *state) sibling(full string) string {
	entries, err := os.ReadDir(filepath.Dir(full))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return didYouMean(filepath.Base(full), names)
}

func readFileBuiltin(c *call) (starlark.Value, error) {
	var path string
	var fallback starlark.Value
	if err := c.unpack("path", &path, "default??", &fallback); err != nil {
		return nil, err
	}
	content, found, err := c.contents(path, fallback)
	if err != nil {
		return nil, err
	}
	if !found {
		var t text
		if err := t.Unpack(fallback); err != nil {
			return nil, fmt.Errorf("default: %w", err)
		}
		content = t.value
	}
	return &blob{content, c.abs(path)}, nil
}

func watchFileBuiltin(c *call) (starlark.Value, error) {
	var path string
	if err := c.unpack("path", &path); err != nil {
		return nil, err
	}
	c.config.add(c.abs(path))
	return nil, nil
}

func listdirBuiltin(c *call) (starlark.Value, error) {
	var dir string
	var recursive bool
	if err := c.unpack("dir", &dir, "recursive??", &recursive); err != nil {
		return nil, err
	}
	root := c.abs(dir)
	if recursive {
		c.config.add(root)
	}
	files := []string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil // many programs ask for folders that only some machines or branches have
		case err != nil:
			return err
		case path == root:
			return nil
		case d.IsDir() && !recursive:
			return fs.SkipDir
		case !d.IsDir():
			files = append(files, path)
		}
		return nil
	})
	return stringValues(files), err
}
