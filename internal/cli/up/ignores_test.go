package up

import (
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// TestIgnores checks that the screens' answers about files follow the watcher's rules, exceptions included.
func TestIgnores(t *testing.T) {
	ig := ignores()
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
