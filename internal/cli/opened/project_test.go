package opened

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/update/buildanddeploy"
)

// TestTree: the working tree of a Tiltfile below its root, without and with a commit, unchanged and changed.
func TestTree(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "shop")
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", root, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write("Tiltfile", "")
	p := &Project{Path: filepath.Join(dir, "Tiltfile")}
	is := func(when string, want buildanddeploy.Tree) {
		t.Helper()
		if diff := cmp.Diff(want, p.tree()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	is("without version control", buildanddeploy.Tree{})
	git("init", "-q")
	is("before the first commit", buildanddeploy.Tree{})
	git("add", ".")
	git("commit", "-qm", "all")
	commit := git("rev-parse", "HEAD")
	is("unchanged", buildanddeploy.Tree{Prefix: "shop/", Commit: commit})
	write("notes", "x")
	is("with a file that is not tracked", buildanddeploy.Tree{Prefix: "shop/", Commit: commit})
	write("Tiltfile", "# x")
	is("changed", buildanddeploy.Tree{Prefix: "shop/", Commit: commit, Uncommitted: true})
}
