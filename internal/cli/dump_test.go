package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cli/command"
)

// TestPages keeps the pages of reference fresh.
func TestPages(t *testing.T) {
	for _, v := range []string{"TILT_HOST", "TILT_PORT"} { // their values would be shown as defaults
		t.Setenv(v, "")
	}
	for _, tc := range []struct {
		command, page string
	}{
		{"cli-docs", "cli.md"},
		{"api-docs", "objects.md"},
		{"json-docs", "json.md"},
	} {
		var out bytes.Buffer
		if code := Main([]string{"dump", tc.command}, &out, io.Discard); code != command.ExitOK {
			t.Fatalf("dump %s: %d", tc.command, code)
		}
		path := filepath.Join("..", "..", "web", "docs", "reference", tc.page)
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s is stale, run make generate:\n%s", tc.page, diff)
		}
	}
}
