// Package native implements the module native, which only embedded extensions see: functions that the language lacks.
package native

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/internal/tiltfile/version"
)

// New returns the module native, which only embedded extensions see. It has the functions that they need and the
// language lacks. Files that they keep between evaluations are in folder.
func New(e *eval.Evaluation, folder string) *starlarkstruct.Module {
	kinds := starlark.NewSet(0)
	for _, kind := range k8sobject.ClusterScopedKinds() {
		_ = kinds.Insert(starlark.String(kind)) // strings are hashable
	}
	kinds.Freeze()
	cacheDir := func(c *eval.Call) (starlark.Value, error) {
		var name string
		if err := c.Unpack("name", &name); err != nil {
			return nil, err
		}
		return starlark.String(filepath.Join(folder, name)), nil
	}
	return &starlarkstruct.Module{Name: "native", Members: starlark.StringDict{
		"base64":         e.Bind("base64", toBase64),
		"cache_dir":      e.Bind("cache_dir", cacheDir),
		"cluster_scoped": kinds,
		"is_text":        e.Bind("is_text", isText),
		"key_files":      e.Bind("key_files", readKeyFiles),
		"satisfies":      e.Bind("satisfies", fits),
	}}
}

func toBase64(c *eval.Call) (starlark.Value, error) {
	var in value.Text
	if err := c.Unpack("text", &in); err != nil {
		return nil, err
	}
	return starlark.String(base64.StdEncoding.EncodeToString([]byte(in.Value))), nil
}

// isText reports whether a value is text, as opposed to binary data.
func isText(c *eval.Call) (starlark.Value, error) {
	var in value.Text
	if err := c.Unpack("text", &in); err != nil {
		return nil, err
	}
	return starlark.Bool(utf8.ValidString(in.Value) && !strings.ContainsRune(in.Value, 0)), nil
}

func fits(c *eval.Call) (starlark.Value, error) {
	var have, constraint string
	if err := c.Unpack("version", &have, "constraint", &constraint); err != nil {
		return nil, err
	}
	ok, err := version.Satisfies(have, constraint)
	return starlark.Bool(ok), err
}

// keyFiles collects keys with the contents of files, as kubectl does for ConfigMaps and Secrets.
type keyFiles struct {
	*eval.Call
	who    string
	watch  bool
	values map[string]string
}

// readKeyFiles takes the values of from_file= and from_env_file=, and returns a dict from keys to contents.
func readKeyFiles(c *eval.Call) (starlark.Value, error) {
	k := keyFiles{Call: c, values: map[string]string{}}
	var files value.Texts
	var envFile string
	if err := c.Unpack("who", &k.who, "from_file??", &files, "from_env_file??", &envFile, "watch??", &k.watch); err != nil {
		return nil, err
	}
	err := k.collect(files.Values, envFile)
	if err != nil {
		return nil, eval.Failure(fmt.Sprintf("%s: %v", k.who, err))
	}
	out := starlark.NewDict(len(k.values))
	for _, key := range slices.Sorted(maps.Keys(k.values)) {
		if err := out.SetKey(starlark.String(key), starlark.String(k.values[key])); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (k keyFiles) collect(files []string, envFile string) error {
	switch {
	case len(files) == 0 && envFile == "":
		return errors.New("give from_file= or from_env_file=")
	case len(files) > 0 && envFile != "":
		return errors.New("give either from_file= or from_env_file=, not both")
	case envFile != "":
		return k.envFile(envFile)
	}
	for _, f := range files {
		key, path, named := strings.Cut(f, "=")
		if !named {
			path = f
		}
		if err := k.file(key, path, named); err != nil {
			return err
		}
	}
	return nil
}

// file adds a file, or the files of a folder.
func (k keyFiles) file(key, path string, named bool) error {
	full := k.Abs(path)
	if !file.IsDir(full) {
		if !named {
			key = filepath.Base(path)
		}
		return k.add(key, path)
	}
	if named {
		return fmt.Errorf("from_file: %s is a folder; a folder takes no key", full)
	}
	if k.watch {
		k.DependOn(full)
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if err := k.add(e.Name(), filepath.Join(full, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (k keyFiles) add(key, path string) error {
	content, err := k.content(path)
	if err != nil {
		return err
	}
	return k.set(key, content)
}

func (k keyFiles) set(key, content string) error {
	if _, ok := k.values[key]; ok {
		return fmt.Errorf("there are two values for key %q", key)
	}
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !strings.ContainsRune(keyLetters, r) }) {
		return fmt.Errorf("%q cannot be a key: it takes letters, digits, '-', '_' and '.'", key)
	}
	k.values[key] = content
	return nil
}

const keyLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func (k keyFiles) content(path string) (string, error) {
	full := k.Abs(path)
	read := func(path string) ([]byte, error) { return file.Read(path, file.Most) }
	if k.watch {
		read = k.ReadFile
	}
	data, err := read(full)
	if err != nil {
		return "", k.Unreadable(path, err)
	}
	return string(data), nil
}

// envFile adds the lines NAME=value of a file; a line that is only a name takes the value of the environment.
func (k keyFiles) envFile(path string) error {
	content, err := k.content(path)
	if err != nil {
		return err
	}
	for _, line := range slices.Collect(strings.Lines(strings.TrimPrefix(content, "\ufeff"))) {
		line = strings.TrimRight(strings.TrimLeft(line, " \t"), "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, given := strings.Cut(line, "=")
		if !given {
			var ok bool
			if value, ok = k.Env.LookupEnv(key); !ok {
				continue
			}
		}
		if err := k.set(key, value); err != nil {
			return err
		}
	}
	return nil
}
