package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/web/docs"
)

// TestEditors opens a Tiltfile in editors that are set up as described in web/docs/editors.md, types in it, and checks that they
// show the answers of the language server.
func TestEditors(t *testing.T) {
	if binary == "" {
		t.Skip("builds hone and runs it, which is not short")
	}
	page, ok := docs.Find("editors")
	if !ok {
		t.Fatal("there is no page about editors")
	}
	trials, err := filepath.Abs(filepath.Join("testdata", "editors"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		program, setup string
		args           []string
		want           []string
	}{
		{"nvim", "init.lua", []string{"--headless", "-i", "NONE", "-u", "../init.lua", "-S", filepath.Join(trials, "nvim.lua"), "Tiltfile"},
			[]string{"file type: tiltfile", "color of a string: pythonString"}},
		{"emacs", "hone.el", []string{"--batch", "--load", "../hone.el", "--load", filepath.Join(trials, "emacs.el")},
			[]string{"mode: tiltfile-mode", "color of a string: font-lock-string-face"}},
	} {
		t.Run(tc.program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(tc.program); err != nil {
				t.Skip("needs the program " + tc.program)
			}
			home := t.TempDir()
			write := func(name, text string) {
				if err := harness.Write(filepath.Join(home, name), text); err != nil {
					t.Fatal(err)
				}
			}
			write(tc.setup, setup(t, page, tc.setup))
			write("shop/Tiltfile", "local_resource('lint', 'echo linted')\nlokal_resource('other', 'true')\n")
			write("bin/readme", "")
			if err := os.Symlink(binary, filepath.Join(home, "bin", "hone")); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			c := exec.CommandContext(ctx, tc.program, tc.args...)
			c.Dir = filepath.Join(home, "shop")
			c.Env = append(os.Environ(), "HOME="+home, "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+home,
				"XDG_DATA_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "TERM=dumb")
			var said, shown strings.Builder
			c.Stdout, c.Stderr = &shown, &said
			err := c.Run()
			got := shown.String()
			if strings.Contains(got, "Eglot is not installed") {
				t.Skip("needs Eglot")
			}
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, got, &said)
			}
			for _, want := range append(tc.want,
				"diagnostic: line 2, .*undefined: lokal_resource .did you mean local_resource",
				"hover: .*local_resource.*Declares a resource that runs commands on this machine",
				`completion: (docker_\w+ )*docker_build\b`,
				"diagnostic: line [23], .*is never closed",
			) {
				if !regexp.MustCompile("(?m)^" + want).MatchString(got) {
					t.Errorf("it does not show %q:\n%s\n%s", want, got, &said)
				}
			}
		})
	}
}

// setup returns a file that a page tells its reader to write.
func setup(t *testing.T, page docs.Page, file string) string {
	t.Helper()
	for _, b := range page.Blocks() {
		if name, _ := b.Value("file"); name == file {
			return b.Text
		}
	}
	t.Fatalf("the page %s has no file %s", page.Topic, file)
	return ""
}
