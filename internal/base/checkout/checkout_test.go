package checkout

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestRemote(t *testing.T) {
	for in, want := range map[string]string{
		"https://secret:token@GitHub.com/dev/shop.git": "github.com/dev/shop",
		"ssh://git@github.com:22/dev/shop/":            "github.com/dev/shop",
		"git@github.com:dev/shop.git":                  "github.com/dev/shop",
		"github.com:dev/shop":                          "github.com/dev/shop",
		"/srv/git/shop.git":                            "",
		"file:///srv/git/shop.git":                     "",
		"../shop":                                      "",
		`C:\git\shop`:                                  "",
		"C:/git/shop":                                  "",
	} {
		if got := remote(in); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

// repository makes a working tree with a Tiltfile in its folder "dev"; without remotes if there are none.
func repository(t *testing.T, text string, remotes ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
	}
	run("init", "-q")
	for i, r := range remotes {
		run("remote", "add", string(rune('a'+i)), r)
	}
	if err := os.MkdirAll(filepath.Join(dir, "dev"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dev", "Tiltfile"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func of(t *testing.T, root string) Tree {
	t.Helper()
	tree, err := Of(t.Context(), filepath.Join(root, "dev", "Tiltfile"))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestNear: a folder is one of another machine if git says so, or, where git knows nothing, if path and Tiltfile are the same.
func TestNear(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	shop := of(t, repository(t, "# there", "git@example.com:dev/shop.git"))
	clone := repository(t, "# here, older", "https://example.com/me/shop", "https://example.com/dev/shop")
	docs := repository(t, "# there", "https://example.com/dev/docs")
	plain := repository(t, "# plain")
	edited := of(t, plain)
	edited.Content = "another"
	unknown := of(t, plain)
	moved := of(t, plain)
	moved.Root = "/elsewhere"
	elsewhere := shop
	elsewhere.Root = docs // the same path here is another project
	nested := shop
	nested.Tiltfile = "Tiltfile"
	nested.Root = "/elsewhere"
	for name, tt := range map[string]struct {
		there  Tree
		folder string
		want   string
	}{
		"the clone around the folder":    {elsewhere, filepath.Join(clone, "dev"), clone},
		"the same path":                  {shop, t.TempDir(), shop.Root},
		"another project at the path":    {elsewhere, t.TempDir(), ""},
		"another project around":         {elsewhere, docs, ""},
		"no Tiltfile there":              {nested, clone, ""},
		"no remotes, the same path":      {unknown, docs, plain},
		"no remotes, another path":       {moved, plain, ""},
		"no remotes, another Tiltfile":   {edited, plain, ""},
		"a clone, and no remotes there":  {moved, clone, ""},
		"no remotes here, and a project": {Tree{Root: plain, Tiltfile: shop.Tiltfile, Remotes: shop.Remotes, Content: shop.Content}, plain, ""},
	} {
		if got := Near(t.Context(), tt.there, tt.folder); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if tree, err := Of(stopped, filepath.Join(plain, "dev", "Tiltfile")); err != nil || tree.Root != filepath.Join(plain, "dev") {
		t.Errorf("without git: %+v %v", tree, err)
	}
}
