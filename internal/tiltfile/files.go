package tiltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"go.starlark.net/starlark"
)

func readFile(c *call) (starlark.Value, error) {
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
	return newBlob(content, c.abs(path)), nil
}

func watchFile(c *call) (starlark.Value, error) {
	var path string
	if err := c.unpack("path", &path); err != nil {
		return nil, err
	}
	c.dependOn(c.abs(path))
	return nil, nil
}

func listdir(c *call) (starlark.Value, error) {
	var dir string
	var recursive bool
	if err := c.unpack("dir", &dir, "recursive??", &recursive); err != nil {
		return nil, err
	}
	root := c.abs(dir)
	if recursive {
		c.dependOn(root)
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

func makeBlob(c *call) (starlark.Value, error) {
	var in text
	if err := c.unpack("input", &in); err != nil {
		return nil, err
	}
	c.learned(in.value)
	return newBlob(in.value, fmt.Sprintf("blob() at %s", c.site())), nil
}
