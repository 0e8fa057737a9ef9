package stdlib

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

func readFile(c *eval.Call) (starlark.Value, error) {
	var path string
	var fallback starlark.Value
	if err := c.Unpack("path", &path, "default??", &fallback); err != nil {
		return nil, err
	}
	content, found, err := c.Contents(path, fallback)
	if err != nil {
		return nil, err
	}
	if !found {
		var t value.Text
		if err := t.Unpack(fallback); err != nil {
			return nil, fmt.Errorf("default: %w", err)
		}
		content = t.Value
	}
	return value.NewBlob(content, c.Abs(path)), nil
}

func watchFile(c *eval.Call) (starlark.Value, error) {
	var path string
	if err := c.Unpack("path", &path); err != nil {
		return nil, err
	}
	c.DependOn(c.Abs(path))
	return nil, nil
}

func listdir(c *eval.Call) (starlark.Value, error) {
	var dir string
	var recursive bool
	if err := c.Unpack("dir", &dir, "recursive??", &recursive); err != nil {
		return nil, err
	}
	root := c.Abs(dir)
	if recursive {
		c.DependOn(root)
	}
	files := []string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil // many programs list folders that only some machines or branches have
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
	return value.Strings(files), err
}

func makeBlob(c *eval.Call) (starlark.Value, error) {
	var in value.Text
	if err := c.Unpack("input", &in); err != nil {
		return nil, err
	}
	c.Learn(in.Value)
	return value.NewBlob(in.Value, fmt.Sprintf("blob() at %s", c.Site())), nil
}
