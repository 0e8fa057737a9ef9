package tiltfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var embeddedSum = regexp.MustCompile(`(\.data/embedded/[a-z0-9_]+)-[0-9a-f]{12}`)

// masked hides the differences between builds of hone: the content hash in the folder of an extension, and the path of
// the program.
func masked(text string) string {
	exe, err := os.Executable()
	if err == nil {
		text = strings.ReplaceAll(text, exe, "$HONE")
	}
	return embeddedSum.ReplaceAllString(text, "$1-SUM")
}

// gitEnv returns an environment in which git finds https://git.test/NAME in the folder git/NAME, and no other
// repository.
func gitEnv(root string) []string {
	return []string{
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=url." + filepath.Join(root, "git") + "/.insteadOf", "GIT_CONFIG_VALUE_0=https://git.test/",
		"GIT_CONFIG_KEY_1=url." + filepath.Join(root, "offline") + "/.insteadOf", "GIT_CONFIG_VALUE_1=https://github.com/",
		"GIT_CONFIG_KEY_2=init.defaultBranch", "GIT_CONFIG_VALUE_2=main",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}
}

// makeRepo makes a repository from a folder. Each of its folders "@TAG" becomes a separate commit with that tag and the
// files of that folder; the rest becomes the newest commit, on branch main.
func makeRepo(t *testing.T, dir string, env []string) {
	t.Helper()
	work := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet")
	tagged, err := filepath.Glob(filepath.Join(dir, "@*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range tagged {
		if err := os.CopyFS(work, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "--quiet", "-m", "tagged")
		git("tag", strings.TrimPrefix(filepath.Base(from), "@"))
		git("rm", "--quiet", "-r", ".")
		if err := os.RemoveAll(from); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("commit", "--quiet", "-m", "newest")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(work, ".git"), dir); err != nil {
		t.Fatal(err)
	}
}
