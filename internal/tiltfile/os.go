package tiltfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"go.starlark.net/starlark"
)

// environ is the environment of an evaluation: a dict that os.environ shows, that os.putenv writes, and that commands
// get. The process' own is not touched.
type environ struct {
	*starlark.Dict
	start map[string]string
}

var _ starlark.HasSetKey = (*environ)(nil)

func newEnviron(env []string) *environ {
	e := &environ{starlark.NewDict(len(env)), map[string]string{}}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			e.start[k] = v
		}
	}
	for _, k := range sortedKeys(e.start) {
		e.set(k, e.start[k])
	}
	return e
}

// Type implements starlark.Value.
func (e *environ) Type() string { return "environ" }

// Freeze does nothing: the environment stays live in files that were loaded, too.
func (e *environ) Freeze() {}

// SetKey implements starlark.HasSetKey; only strings are taken.
func (e *environ) SetKey(k, v starlark.Value) error {
	var key, val text
	if err := key.Unpack(k); err != nil {
		return err
	}
	if err := val.Unpack(v); err != nil {
		return err
	}
	e.set(key.value, val.value)
	return nil
}

func (e *environ) set(key, value string) {
	// The dict is frozen by nobody and strings are hashable, so that this cannot fail.
	_ = e.Dict.SetKey(starlark.String(key), starlark.String(value))
}

func (e *environ) lookup(key string) (string, bool) {
	v, found, _ := e.Dict.Get(starlark.String(key))
	if !found {
		return "", false
	}
	return plainText(v), true
}

func (e *environ) get(key string) string {
	v, _ := e.lookup(key)
	return v
}

func (e *environ) has(key string) bool {
	_, ok := e.lookup(key)
	return ok
}

// list returns the environment as sorted "K=V".
func (e *environ) list() []string {
	values := e.values()
	out := make([]string, 0, len(values))
	for _, k := range sortedKeys(values) {
		out = append(out, k+"="+values[k])
	}
	return out
}

func (e *environ) values() map[string]string {
	out := make(map[string]string, e.Len())
	for _, item := range e.Items() {
		out[plainText(item[0])] = plainText(item[1])
	}
	return out
}

// changed returns what the Tiltfile set, as sorted "K=V". A variable that it took away is empty: commands that run
// later inherit the process' environment, from which nothing can be taken.
func (e *environ) changed() []string {
	var out []string
	now := e.values()
	for _, k := range sortedKeys(now) {
		if before, ok := e.start[k]; !ok || before != now[k] {
			out = append(out, k+"="+now[k])
		}
	}
	for _, k := range sortedKeys(e.start) {
		if _, ok := now[k]; !ok {
			out = append(out, k+"=")
		}
	}
	return out
}

// differences is changed for who can take a variable away too: such a one stands there by its name alone.
func (e *environ) differences() []string {
	out := e.changed()
	for i, kv := range out {
		if name, _, _ := strings.Cut(kv, "="); !e.has(name) {
			out[i] = name
		}
	}
	return out
}

func getcwdBuiltin(c *call) (starlark.Value, error) {
	return starlark.String(c.dir()), c.unpack()
}

func getenvBuiltin(c *call) (starlark.Value, error) {
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

func putenvBuiltin(c *call) (starlark.Value, error) {
	var key string
	var value text
	if err := c.unpack("key", &key, "value", &value); err != nil {
		return nil, err
	}
	c.env.set(key, value.value)
	return nil, nil
}

func unsetenvBuiltin(c *call) (starlark.Value, error) {
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

func relpathBuiltin(c *call) (starlark.Value, error) {
	var path, start string
	if err := c.unpack("path", &path, "start??", &start); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(c.abs(start), c.abs(path))
	return starlark.String(rel), err
}

// pathJoinBuiltin joins as Python does: an absolute part drops what stands before it.
func pathJoinBuiltin(c *call) (starlark.Value, error) {
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
