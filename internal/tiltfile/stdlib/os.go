package stdlib

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

func getcwd(c *eval.Call) (starlark.Value, error) {
	return starlark.String(c.Dir()), c.Unpack()
}

func getenv(c *eval.Call) (starlark.Value, error) {
	var key string
	var fallback starlark.Value = starlark.None
	if err := c.Unpack("key", &key, "default?", &fallback); err != nil {
		return nil, err
	}
	if v, ok := c.Env.LookupEnv(key); ok {
		return starlark.String(v), nil
	}
	return fallback, nil
}

func putenv(c *eval.Call) (starlark.Value, error) {
	var key string
	var value value.Text
	if err := c.Unpack("key", &key, "value", &value); err != nil {
		return nil, err
	}
	c.Env.Set(key, value.Value)
	return nil, nil
}

func unsetenv(c *eval.Call) (starlark.Value, error) {
	var key string
	if err := c.Unpack("key", &key); err != nil {
		return nil, err
	}
	_, _, err := c.Env.Delete(starlark.String(key))
	return nil, err
}

// pathFunction makes a builtin of a function on one path.
func pathFunction(fn func(c *eval.Call, path string) starlark.Value) eval.Function {
	return func(c *eval.Call) (starlark.Value, error) {
		var path string
		if err := c.Unpack("path", &path); err != nil {
			return nil, err
		}
		return fn(c, path), nil
	}
}

func pathAbs(c *eval.Call, p string) starlark.Value { return starlark.String(c.Abs(p)) }

func pathBase(_ *eval.Call, p string) starlark.Value { return starlark.String(filepath.Base(p)) }

func pathDir(_ *eval.Call, p string) starlark.Value { return starlark.String(filepath.Dir(p)) }

func pathExists(c *eval.Call, p string) starlark.Value {
	_, err := os.Stat(c.Abs(p))
	return starlark.Bool(err == nil)
}

func pathReal(c *eval.Call, p string) starlark.Value {
	full := c.Abs(p)
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	return starlark.String(full)
}

func relpath(c *eval.Call) (starlark.Value, error) {
	var path, start string
	if err := c.Unpack("path", &path, "start??", &start); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(c.Abs(start), c.Abs(path))
	return starlark.String(rel), err
}

// pathJoin joins as Python does: an absolute part discards the parts before it.
func pathJoin(c *eval.Call) (starlark.Value, error) {
	var parts []string
	for _, a := range c.Args {
		var t value.Text
		if err := t.Unpack(a); err != nil {
			return nil, err
		}
		if filepath.IsAbs(t.Value) {
			parts = nil
		}
		parts = append(parts, t.Value)
	}
	if len(c.Kwargs) > 0 || len(parts) == 0 {
		return nil, errors.New("it takes the parts of a path")
	}
	return starlark.String(filepath.Join(parts...)), nil
}

// osName is the value of os.name.
func osName() starlark.String {
	if runtime.GOOS == "windows" {
		return "nt"
	}
	return "posix"
}
