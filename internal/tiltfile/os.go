package tiltfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"go.starlark.net/starlark"
)

func getcwd(c *call) (starlark.Value, error) {
	return starlark.String(c.dir()), c.unpack()
}

func getenv(c *call) (starlark.Value, error) {
	var key string
	var fallback starlark.Value = starlark.None
	if err := c.unpack("key", &key, "default?", &fallback); err != nil {
		return nil, err
	}
	if v, ok := c.env.lookup(key); ok {
		return starlark.String(v), nil
	}
	return fallback, nil
}

func putenv(c *call) (starlark.Value, error) {
	var key string
	var value text
	if err := c.unpack("key", &key, "value", &value); err != nil {
		return nil, err
	}
	c.env.set(key, value.value)
	return nil, nil
}

func unsetenv(c *call) (starlark.Value, error) {
	var key string
	if err := c.unpack("key", &key); err != nil {
		return nil, err
	}
	_, _, err := c.env.Delete(starlark.String(key))
	return nil, err
}

// pathFunction makes a builtin of a function on one path.
func pathFunction(fn func(c *call, path string) starlark.Value) function {
	return func(c *call) (starlark.Value, error) {
		var path string
		if err := c.unpack("path", &path); err != nil {
			return nil, err
		}
		return fn(c, path), nil
	}
}

func pathAbs(c *call, p string) starlark.Value { return starlark.String(c.abs(p)) }

func pathBase(_ *call, p string) starlark.Value { return starlark.String(filepath.Base(p)) }

func pathDir(_ *call, p string) starlark.Value { return starlark.String(filepath.Dir(p)) }

func pathExists(c *call, p string) starlark.Value {
	_, err := os.Stat(c.abs(p))
	return starlark.Bool(err == nil)
}

func pathReal(c *call, p string) starlark.Value {
	full := c.abs(p)
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	return starlark.String(full)
}

func relpath(c *call) (starlark.Value, error) {
	var path, start string
	if err := c.unpack("path", &path, "start??", &start); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(c.abs(start), c.abs(path))
	return starlark.String(rel), err
}

// pathJoin joins as Python does: an absolute part drops what stands before it.
func pathJoin(c *call) (starlark.Value, error) {
	var parts []string
	for _, a := range c.args {
		var t text
		if err := t.Unpack(a); err != nil {
			return nil, err
		}
		if filepath.IsAbs(t.value) {
			parts = nil
		}
		parts = append(parts, t.value)
	}
	if len(c.kwargs) > 0 || len(parts) == 0 {
		return nil, errors.New("it takes the parts of a path")
	}
	return starlark.String(filepath.Join(parts...)), nil
}

// osName is what os.name says.
func osName() starlark.String {
	if runtime.GOOS == "windows" {
		return "nt"
	}
	return "posix"
}
