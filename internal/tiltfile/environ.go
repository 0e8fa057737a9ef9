package tiltfile

import (
	"maps"
	"slices"
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
	for _, k := range slices.Sorted(maps.Keys(e.start)) {
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
	for _, k := range slices.Sorted(maps.Keys(values)) {
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
	for _, k := range slices.Sorted(maps.Keys(now)) {
		if before, ok := e.start[k]; !ok || before != now[k] {
			out = append(out, k+"="+now[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(e.start)) {
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
