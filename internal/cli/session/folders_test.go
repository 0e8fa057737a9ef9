package session

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
)

// TestFolders maps files by the closest folder, and no file that is beside one.
func TestFolders(t *testing.T) {
	f, err := parseFolders([]string{"/src/shop=/home/me/shop", "/src/shop/api/=/home/me/api", "/=/everything", "/data=rel"})
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Abs("rel")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"/src/shop/web/app.ts":       "/home/me/shop/web/app.ts",
		"/src/shop":                  "/home/me/shop",
		"/src/shop/api/main.go":      "/home/me/api/main.go",
		"/src/shop/../shop/api":      "/home/me/api",
		"/src/shopping/main.go":      "/everything/src/shopping/main.go",
		"/data/x":                    rel + "/x",
		"/src/shop/../../etc/passwd": "/everything/etc/passwd",
	} {
		if got := f.local(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := f[:2].local("/src/shopping/main.go"); got != "" {
		t.Errorf("a folder beside: %s", got)
	}
	for _, bad := range []string{"/src", "src=/home", "/src=", "=/home"} {
		if _, err := parseFolders([]string{bad}); err == nil || !strings.Contains(problem.Text(err), "--map REMOTE=LOCAL") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
