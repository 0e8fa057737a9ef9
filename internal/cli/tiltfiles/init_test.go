package tiltfiles

import (
	"io"
	"os"
	"testing"

	"github.com/hone-dev/hone/internal/cli/command"
)

// TestInitRefuses checks that flags that exclude each other leave the folder as it is.
func TestInitRefuses(t *testing.T) {
	for _, flags := range [][]string{{"--example", "--dry-run"}, {"--example", "--ask"}, {"--ask", "--compose", "kubernetes"}} {
		dir := t.TempDir()
		c := newInit(&command.Global{Stdout: io.Discard, Stderr: io.Discard})
		c.SetArgs(append(flags, dir))
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		if err := c.ExecuteContext(t.Context()); err == nil {
			t.Errorf("%v: there is no error", flags)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%v: the folder has %v, %v", flags, entries, err)
		}
	}
}
