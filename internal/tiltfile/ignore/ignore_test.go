package ignore

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/patternmatcher/ignorefile"

	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// FuzzIgnoreFile makes rules from ignore files and applies them to paths: each file is accepted, or refused with its name.
func FuzzIgnoreFile(f *testing.F) {
	f.Add("# c\n*.tmp\n!keep.tmp\n/a/**/b\n\\#x\n", "a/x/b/c.tmp")
	f.Add("[a-\n", "a")
	f.Add("\ufeff**\n!\n!!a\n", "../b")
	f.Fuzz(func(t *testing.T, text, path string) {
		patterns, err := ignorefile.ReadAll(bytes.NewReader([]byte(text)))
		if err != nil {
			return
		}
		m, err := watch.NewMatcher([]model.Ignore{{Base: "/src", Patterns: patterns, Source: "/src/.dockerignore"}})
		if err != nil {
			if !strings.Contains(err.Error(), ".dockerignore") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		if m.Matches("/src") {
			t.Errorf("%q excludes its own folder", text)
		}
		full := filepath.Join("/src", path)
		if m.MatchesEntireDir(full) && !m.Matches(filepath.Join(full, "below")) {
			t.Errorf("%q excludes all of %s, but not the files below it", text, full)
		}
	})
}
