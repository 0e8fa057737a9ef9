package value

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// Environ is the environment of an evaluation: the dict that os.environ shows, os.putenv changes and commands receive.
// The environment of the process does not change.
type Environ struct {
	*starlark.Dict
	start map[string]string
}

var _ starlark.HasSetKey = (*Environ)(nil)

// NewEnviron returns an environment with the "K=V" of env; of a duplicate name the last value counts.
func NewEnviron(env []string) *Environ {
	e := &Environ{starlark.NewDict(len(env)), map[string]string{}}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			e.start[k] = v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(e.start)) {
		e.Set(k, e.start[k])
	}
	return e
}

// Type implements starlark.Value.
func (e *Environ) Type() string { return "environ" }

// Freeze does nothing: loaded files can still change the environment.
func (e *Environ) Freeze() {}

// SetKey implements starlark.HasSetKey; it accepts only strings and blobs.
func (e *Environ) SetKey(k, v starlark.Value) error {
	var key, val Text
	if err := key.Unpack(k); err != nil {
		return err
	}
	if err := val.Unpack(v); err != nil {
		return err
	}
	e.Set(key.Value, val.Value)
	return nil
}

// Set sets a variable.
func (e *Environ) Set(key, value string) {
	// Nothing freezes the dict, and strings are hashable, so this cannot fail.
	_ = e.Dict.SetKey(starlark.String(key), starlark.String(value))
}

// LookupEnv returns a variable; ok is false where it is not set.
func (e *Environ) LookupEnv(key string) (value string, ok bool) {
	v, found, _ := e.Dict.Get(starlark.String(key))
	if !found {
		return "", false
	}
	return PlainText(v), true
}

// Getenv returns a variable, or "" where it is not set.
func (e *Environ) Getenv(key string) string {
	v, _ := e.LookupEnv(key)
	return v
}

// Has reports whether a variable is set.
func (e *Environ) Has(key string) bool {
	_, ok := e.LookupEnv(key)
	return ok
}

// List returns the environment as sorted "K=V".
func (e *Environ) List() []string {
	values := e.Map()
	out := make([]string, 0, len(values))
	for _, k := range slices.Sorted(maps.Keys(values)) {
		out = append(out, k+"="+values[k])
	}
	return out
}

// Map returns a copy of all variables.
func (e *Environ) Map() map[string]string {
	out := make(map[string]string, e.Len())
	for _, item := range e.Items() {
		out[PlainText(item[0])] = PlainText(item[1])
	}
	return out
}

// Changed returns the variables that the Tiltfile set, as sorted "K=V". A variable that it unset is empty: commands
// that run later inherit the process' environment, from which no variable can be removed.
func (e *Environ) Changed() []string {
	var out []string
	now := e.Map()
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

// Differences is Changed for callers that can also remove variables: a variable that the Tiltfile unset is listed by
// its name alone.
func (e *Environ) Differences() []string {
	out := e.Changed()
	for i, kv := range out {
		if name, _, _ := strings.Cut(kv, "="); !e.Has(name) {
			out[i] = name
		}
	}
	return out
}
