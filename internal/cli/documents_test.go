package cli

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/reference"
)

// stableFile lists the fields that documents have had at any time.
const stableFile = "testdata/documents.txt"

// TestDocumentsAreStable checks that no document has lost a field, and that no field has another type than before. With -update, new fields
// are added. To remove one, which breaks programs, edit the file.
func TestDocumentsAreStable(t *testing.T) {
	now := reference.JSON{Root: newRoot(&command.Global{Stdout: io.Discard, Stderr: io.Discard})}.Fields()
	text, err := os.ReadFile(stableFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	stable := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range stable {
		if line != "" && !slices.Contains(now, line) {
			t.Errorf("a document has changed; it had %s", line)
		}
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(stableFile, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range now {
		if !slices.Contains(stable, line) {
			t.Errorf("%s is not in %s: run the test with -update", line, stableFile)
		}
	}
}
