package project_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hone-dev/hone/internal/base/project"
)

// TestBeside: a Tiltfile has one project in a cluster that it declares, and another one in a session that has the cluster as its own.
func TestBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tiltfile := filepath.Join(dir, "Tiltfile")
	named := false
	r := project.New(filepath.Join(dir, "projects"), filepath.Join(dir, "ledgers")).Reading(func(string) (d project.Declared, ok bool, err error) {
		if named {
			d.Name = "shop"
		}
		return d, true, nil
	})
	clusters := func(own string, want ...string) {
		t.Helper()
		if got, err := r.Clusters(tiltfile, own); err != nil || !slices.Equal(got, want) {
			t.Errorf("beside %s are %v (%v), want %v", own, got, err, want)
		}
	}
	id := func(own, on string) string {
		t.Helper()
		open := func() (project.Project, error) { return r.Open(t.Context(), tiltfile, own) }
		if on != "" {
			open = func() (project.Project, error) { return r.Beside(t.Context(), tiltfile, own, on) }
		}
		p, err := open()
		if err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	clusters("us")
	us, eu, beside := id("us", ""), id("eu", ""), id("us", "eu")
	if us == eu || us == beside || eu == beside {
		t.Errorf("the projects are %s, %s and %s", us, eu, beside)
	}
	if again := id("us", "eu"); again != beside {
		t.Errorf("it is %s, and then %s", beside, again)
	}
	id("us", "asia")
	id("eu", "us")
	clusters("us", "asia", "eu")
	clusters("eu", "us")
	named = true
	if us, eu := id("us", ""), id("us", "eu"); us != "shop" || eu != "shop.beside" || r.Path(eu) != tiltfile {
		t.Errorf("with a name, they are %s and %s, the latter of %q", us, eu, r.Path(eu))
	}
	if err := r.ForgetBeside(t.Context(), tiltfile, "us", "eu"); err != nil {
		t.Fatal(err)
	}
	clusters("us", "asia")
}
