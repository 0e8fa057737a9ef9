package tiltfiles

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// TestExtensions lists and updates a copy of a repository.
func TestExtensions(t *testing.T) {
	upstream := filepath.Join(t.TempDir(), "ext")
	env := []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url." + filepath.Dir(upstream) + "/.insteadOf", "GIT_CONFIG_VALUE_0=https://git.test/",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet", upstream)
	git("-C", upstream, "commit", "--quiet", "--allow-empty", "-m", "one")

	var out strings.Builder
	s := extensionStore(&out)
	s.Dir, s.Env = t.TempDir(), env
	says := func(what string, err error, want ...string) {
		t.Helper()
		for _, w := range want {
			if err != nil || !strings.Contains(out.String(), w) {
				t.Errorf("%s: got %q, %v, want %q in it", what, out.String(), err, w)
			}
		}
		out.Reset()
	}
	says("update of nothing", updateExtensions(t.Context(), &out, s), "no copies to update")
	says("list of nothing", listExtensions(&out, s), "part of hone: ", "restart_process")

	c, err := s.Checkout(t.Context(), extension.Repo{Name: "x", URL: "https://git.test/ext"})
	says("checkout", err, "Fetching extensions from https://git.test/ext")
	says("list", listExtensions(&out, s), "https://git.test/ext  commit "+c.Commit[:12]+"  fetched ")
	says("update", updateExtensions(t.Context(), &out, s), "https://git.test/ext has nothing new")
	git("-C", upstream, "commit", "--quiet", "--allow-empty", "-m", "two")
	says("update after a commit", updateExtensions(t.Context(), &out, s), "https://git.test/ext is now at commit ", "was at "+c.Commit[:12])
}
