package sessions

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProjects(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tiltfile := filepath.Join(dir, "shop", "Tiltfile")
	if err := os.MkdirAll(filepath.Dir(tiltfile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(tiltfile), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := NewProjects(filepath.Join(dir, "projects"))
	if _, ok, err := p.Named("shop"); ok || err != nil {
		t.Errorf("before anything: %v, %v", ok, err)
	}
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	keep := func(path, name string, after time.Duration, resources ...string) {
		t.Helper()
		if err := p.Keep(Project{Tiltfile: path, Session: name, UsedAt: at.Add(after), Resources: resources}); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(dir, "other", "Tiltfile")
	keep(other, "shop", 0)
	keep(filepath.Join(dir, "link", "Tiltfile"), "shop", time.Hour, "web", "api")
	want := Project{Tiltfile: tiltfile, Session: "shop", UsedAt: at.Add(time.Hour), Resources: []string{"web", "api"}}
	for name, find := range map[string]func() (Project, bool){
		"by name":               func() (Project, bool) { is, ok, _ := p.Named("shop"); return is, ok },
		"by its Tiltfile":       func() (Project, bool) { return p.Of(tiltfile) },
		"through another path":  func() (Project, bool) { return p.Of(filepath.Join(dir, "link", "Tiltfile")) },
		"by name, in new words": func() (Project, bool) { is, ok, _ := NewProjects(p.dir).Named("shop"); return is, ok },
	} {
		got, ok := find()
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v\n%s", name, ok, diff)
		}
	}
	keep(tiltfile, "mall", 2*time.Hour, "web")
	for _, name := range []string{"shop", "mall"} { // the sessions of one project may work in different clusters
		if is, ok, _ := p.Named(name); !ok || is.Tiltfile != tiltfile || is.Session != name {
			t.Errorf("session %s of two of a project: %+v", name, is)
		}
	}
	if is, ok := p.Of(tiltfile); !ok || is.Session != "mall" {
		t.Errorf("the newest session of a project: %+v", is)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := p.Named("mall"); !ok || err != nil {
		t.Errorf("next to a broken file: %v, %v", ok, err)
	}
	if _, ok := p.Of(filepath.Join(dir, "nope", "Tiltfile")); ok {
		t.Error("a project that has never run")
	}
	for name, ok := range map[string]bool{"shop": true, "shop-2": true, "0": true, "": false, "Shop": false, "-x": false, "a/b": false, "a.b": false,
		"a234567890123456789012345678901234567890": false} {
		if ValidName(name) != ok {
			t.Errorf("%q: %v", name, !ok)
		}
	}
}
