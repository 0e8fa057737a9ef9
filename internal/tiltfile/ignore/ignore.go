// Package ignore makes the rules that exclude files from builds and watches: ignore files, only=, watch_settings().
package ignore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/patternmatcher/ignorefile"
	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// readFile reads a file in .dockerignore syntax whose patterns are relative to base.
func readFile(e *eval.Evaluation, path, base string) (model.Ignore, bool) {
	data, err := e.ReadFile(path)
	if err != nil {
		return model.Ignore{}, false
	}
	patterns, err := eval.Remembered(e, memo.Key{Kind: memo.Ignores, Content: string(data)}, func() ([]string, error) {
		return ignorefile.ReadAll(bytes.NewReader(data))
	})
	if err != nil {
		e.Warn(fault.Site{}, "%s cannot be read: %v", path, err)
		return model.Ignore{}, false
	}
	return model.Ignore{Base: base, Patterns: slices.Clip(patterns), Source: path}, len(patterns) > 0
}

// Dockerignore reads the rules of a build context: the file named after the Dockerfile takes precedence over the
// context's own.
func Dockerignore(e *eval.Evaluation, context, dockerfile string) (model.Ignore, bool) {
	if dockerfile != "" {
		own := dockerfile + ".dockerignore"
		e.DependOn(own)
		if _, err := os.Stat(own); err == nil {
			return readFile(e, own, context)
		}
	}
	return readFile(e, filepath.Join(context, ".dockerignore"), context)
}

// Rules are the rules for every watch. They are used by one goroutine.
type Rules struct{ List []model.Ignore }

// NewRules returns an empty list of rules.
func NewRules() *Rules { return &Rules{} }

// Builtins are the functions that add rules.
func (r *Rules) Builtins() map[string]eval.Function {
	return map[string]eval.Function{"watch_settings": r.watchSettings}
}

// ReadTiltignore adds the rules of the .tiltignore next to the root Tiltfile.
func (r *Rules) ReadTiltignore(e *eval.Evaluation) {
	dir := e.Dir()
	if rule, ok := readFile(e, filepath.Join(dir, ".tiltignore"), dir); ok {
		r.List = append(r.List, rule)
	}
}

func (r *Rules) watchSettings(c *eval.Call) (starlark.Value, error) {
	var ignore value.Texts
	if err := c.Unpack("ignore", &ignore); err != nil {
		return nil, err
	}
	if len(ignore.Values) > 0 {
		r.List = append(r.List, model.Ignore{Base: c.Dir(), Patterns: ignore.Values, Source: "watch_settings"})
	}
	return nil, nil
}

// Only returns the rule that ignores everything except the given paths.
func Only(context string, only []string) (model.Ignore, error) {
	r := model.Ignore{Base: context, Patterns: []string{"**"}, Source: "only="}
	for _, p := range only {
		if strings.ContainsAny(p, "*?[") {
			return r, fmt.Errorf("only: %q is a pattern; only= takes plain paths, ignore= takes patterns", p)
		}
		rel := filepath.Clean(p)
		if filepath.IsAbs(rel) {
			var err error
			if rel, err = filepath.Rel(context, rel); err != nil {
				return r, fmt.Errorf("only: %w", err)
			}
		}
		switch {
		case rel == ".." || strings.HasPrefix(rel, "../"):
			return r, fmt.Errorf("only: %q is outside of the context %s", p, context)
		case rel == ".":
			r.Patterns = append(r.Patterns, "!**")
		default:
			p := escapePattern(filepath.ToSlash(rel))
			r.Patterns = append(r.Patterns, "!"+p, "!"+p+"/**")
		}
	}
	return r, nil
}

// File returns the rule that excludes one file.
func File(path, source string) model.Ignore {
	return model.Ignore{Base: filepath.Dir(path), Patterns: []string{escapePattern(filepath.Base(path))}, Source: source}
}

// Below excludes a path below base.
func Below(base, path, source string) model.Ignore {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, base), string(filepath.Separator))
	return model.Ignore{Base: base, Patterns: []string{escapePattern(filepath.ToSlash(rel))}, Source: source}
}

var patternEscaper = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// escapePattern returns a pattern that matches exactly the path.
func escapePattern(path string) string {
	p := patternEscaper.Replace(path)
	if strings.HasPrefix(p, "!") || strings.HasPrefix(p, "#") {
		p = `\` + p
	}
	return p
}

// FolderOf returns the folder of a file; any other path is taken as a folder, which may be created later.
func FolderOf(path string) string {
	if file.Exists(path) {
		return filepath.Dir(path)
	}
	return path
}

// LeaveOutTiltfiles makes a watch ignore the files of the program.
func LeaveOutTiltfiles(e *eval.Evaluation, w *model.WatchSpec) {
	for _, path := range e.Paths() {
		if Under(w.Paths, path) {
			w.Ignores = append(w.Ignores, File(path, "Tiltfile"))
		}
	}
}

// Under reports whether a path is one of the folders or is below one.
func Under(dirs []string, p string) bool {
	for _, d := range dirs {
		if model.IsChild(d, p) {
			return true
		}
	}
	return false
}
