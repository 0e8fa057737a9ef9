package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// TestIgnores checks that the screens' answers about files follow the watcher's rules, exceptions included.
func TestIgnores(t *testing.T) {
	ig := Ignores()
	patterns := model.Ignore{Base: "/src", Patterns: []string{"**/*.md", "!docs/keep.md"}}
	for file, want := range map[string]bool{"/src/a/b.md": true, "/src/docs/keep.md": false, "/src/main.go": false, "/other/x.md": false} {
		if got := ig.Match(patterns, file); got != want {
			t.Errorf("%s is left out: %v", file, got)
		}
	}
	if ig.Match(model.Ignore{Base: "/src", Patterns: []string{"["}}, "/src/a") {
		t.Error("a pattern that is wrong leaves out a file")
	}
	if !ig.Match(model.Ignore{Base: "/src", Patterns: ig.Ephemeral}, "/src/.main.go.swp") {
		t.Error("a swap file is a change of the source")
	}
}

// TestReadable names files that a session may and may not ask for.
func TestReadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.go")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		file:                           "",
		link:                           "",
		"main.go":                      "is not an absolute path",
		"-c evil":                      "is not an absolute path",
		"":                             "is not an absolute path",
		dir:                            "is not a regular file",
		os.DevNull:                     "is not a regular file",
		filepath.Join(dir, "other.go"): "is not on this machine",
	} {
		err := readable(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}
