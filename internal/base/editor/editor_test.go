package editor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaceOfALine(t *testing.T) {
	for command, want := range map[string][]string{
		"vim":                  {"+7", "a b.go"},
		"/usr/bin/nvim -p":     {"+7", "a b.go"},
		"code --wait":          {"--goto", "a b.go:7"},
		"subl -w":              {"a b.go:7"},
		"goland":               {"--line", "7", "a b.go"},
		"my-own-editor --fast": {"a b.go"},
	} {
		if diff := cmp.Diff(want, at(command, "a b.go", 7)); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
		if diff := cmp.Diff([]string{"a b.go"}, at(command, "a b.go", 0)); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}

// TestProgramsRun runs programs of a user, with options and quotes in their command lines.
func TestProgramsRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a file.txt")
	if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (Editor{Command: `printf '%s\n' "an option"`, Out: &out}).Open(t.Context(), path, 0); err != nil {
		t.Fatal(err)
	}
	if want := "an option\n" + path + "\n"; out.String() != want {
		t.Errorf("the editor got %q", out.String())
	}
	out.Reset()
	if err := (Pager{Command: "cat", Out: &out}).Show(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if out.String() != "text\n" {
		t.Errorf("the pager showed %q", out.String())
	}
	if err := (Pager{Command: "false"}).Show(t.Context(), path); err == nil || !strings.Contains(err.Error(), `the pager "false" has failed`) {
		t.Errorf("a pager that fails: %v", err)
	}
}
