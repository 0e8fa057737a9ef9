package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTiltInPath finds this program under the name tilt, before any other, and also where the link was stale.
func TestTiltInPath(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "tilt"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", other)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var found string
	for round := range 3 {
		env := tiltInPath(dir)
		path, _ := strings.CutPrefix(env[0], "PATH=")
		if !strings.HasSuffix(path, string(filepath.ListSeparator)+other) {
			t.Errorf("the user's own PATH is lost: %s", path)
		}
		cmd := exec.Command("/bin/sh", "-c", "command -v tilt")
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		found = strings.TrimSpace(string(out))
		if to, err := os.Readlink(found); err != nil || to != program {
			t.Fatalf("round %d: tilt is %s, which leads to %q: %v", round, found, to, err)
		}
		if round == 0 {
			if err := makeLink("/gone", found); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := os.ReadDir(filepath.Dir(found))
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v %v", files, err)
	}
	if env := tiltInPath(filepath.Join(found, "below a file")); env != nil {
		t.Errorf("got %s for a folder that cannot be made", env)
	}
}
