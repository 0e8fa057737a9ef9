package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// place is a home folder with Tiltfiles and a registry.
type place struct {
	t    *testing.T
	root string
	r    *Registry
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t, root, New(filepath.Join(root, "state", "projects"), filepath.Join(root, "state", "ledger"))}
	p.mkdir("state/ledger")
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *place) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) mkdir(name string) { p.t.Helper(); p.check(os.MkdirAll(p.path(name), 0o700)) }

func (p *place) file(name string) {
	p.t.Helper()
	p.mkdir(filepath.Dir(name))
	p.check(os.WriteFile(p.path(name), nil, 0o600))
}

func (p *place) link(to, name string) { p.t.Helper(); p.check(os.Symlink(p.path(to), p.path(name))) }

func (p *place) move(from, to string) { p.t.Helper(); p.check(os.Rename(p.path(from), p.path(to))) }

// ledger creates a ledger of a version without records: named after the path as given.
func (p *place) ledger(tiltfile string) string {
	p.t.Helper()
	id := newID(p.path(tiltfile), "kind")
	p.file("state/ledger/1111-2222-" + id + ".json")
	return id
}

func (p *place) open(name string) Project {
	p.t.Helper()
	got, err := p.r.Open(p.t.Context(), p.path(name), "kind")
	p.check(err)
	return got
}

func (p *place) find(name string) Project {
	p.t.Helper()
	got, err := p.r.Find(p.t.Context(), p.path(name), "kind")
	p.check(err)
	return got
}

// needsFolders skips the test if the file system cannot identify folders.
func (p *place) needsFolders() {
	p.t.Helper()
	if folderOf(p.root) == (folder{}) {
		p.t.Skip("the file system does not tell when a folder was made")
	}
}

func same(t *testing.T, what string, a, b Project) {
	t.Helper()
	if a.ID != b.ID {
		t.Errorf("%s: %s is project %s, %s is project %s; want one", what, a.Tiltfile, a.ID, b.Tiltfile, b.ID)
	}
}

func different(t *testing.T, what string, a, b Project) {
	t.Helper()
	if a.ID == b.ID {
		t.Errorf("%s: %s and %s are one project, want two", what, a.Tiltfile, b.Tiltfile)
	}
}

func TestIdentity(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(*testing.T, *place)
	}{
		{"the same path again", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			same(t, "twice", p.open("shop/Tiltfile"), p.open("shop/Tiltfile"))
			different(t, "another file", p.open("shop/Tiltfile"), p.open("shop/Tiltfile.dev"))
			other, err := p.r.Open(t.Context(), p.path("shop/Tiltfile"), "prod")
			p.check(err)
			different(t, "another context", p.open("shop/Tiltfile"), other)
		}},
		{"a link to the folder, or to one above it", func(t *testing.T, p *place) {
			p.file("src/shop/Tiltfile")
			p.link("src/shop", "current")
			p.link("src", "work")
			real := p.open("src/shop/Tiltfile")
			same(t, "linked", real, p.open("current/Tiltfile"))
			same(t, "linked above", real, p.open("work/shop/Tiltfile"))
			same(t, "unclean", real, p.open("work/../src/shop/./Tiltfile"))
			if got := p.open("current/Tiltfile").Tiltfile; got != p.path("src/shop/Tiltfile") {
				t.Errorf("the real path is said to be %s", got)
			}
		}},
		{"a Tiltfile that is a link", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile.dev")
			p.link("shop/Tiltfile.dev", "shop/Tiltfile")
			same(t, "in one folder", p.open("shop/Tiltfile"), p.open("shop/Tiltfile.dev"))
			p.file("shared/Tiltfile")
			for _, dir := range []string{"a", "b"} {
				p.mkdir(dir)
				p.link("shared/Tiltfile", dir+"/Tiltfile")
			}
			different(t, "its paths lead to other files there", p.open("a/Tiltfile"), p.open("b/Tiltfile"))
		}},
		{"a Tiltfile that is gone", func(t *testing.T, p *place) {
			p.file("src/shop/Tiltfile")
			p.link("src", "work")
			before := p.open("src/shop/Tiltfile")
			p.check(os.RemoveAll(p.path("src/shop")))
			same(t, "gone", before, p.find("src/shop/Tiltfile"))
			same(t, "gone, by a link", before, p.find("work/shop/Tiltfile"))
		}},
		{"a moved folder", func(t *testing.T, p *place) {
			p.needsFolders()
			p.file("shop/Tiltfile")
			before := p.open("shop/Tiltfile")
			p.move("shop", "store")
			same(t, "for down", before, p.find("store/Tiltfile"))
			same(t, "for up", before, p.open("store/Tiltfile"))
			p.file("shop/Tiltfile")
			newcomer := p.open("shop/Tiltfile")
			different(t, "another one at the old place", before, newcomer)
			same(t, "and again", newcomer, p.open("shop/Tiltfile"))
			same(t, "the moved one stays what it is", before, p.open("store/Tiltfile"))
			p.mkdir("src")
			p.move("store", "src/store")
			same(t, "moved again", before, p.open("src/store/Tiltfile"))
			p.move("src", "source")
			same(t, "a folder above it", before, p.open("source/store/Tiltfile"))
		}},
		{"a copy", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			p.file("copy/Tiltfile")
			different(t, "a copy", p.open("shop/Tiltfile"), p.open("copy/Tiltfile"))
		}},
		{"a new folder after one that was deleted", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			before := p.open("shop/Tiltfile")
			p.check(os.RemoveAll(p.path("shop")))
			p.file("store/Tiltfile") // very likely with the same inode
			different(t, "deleted", before, p.open("store/Tiltfile"))
		}},
		{"two Tiltfiles in a moved folder", func(t *testing.T, p *place) {
			p.needsFolders()
			p.file("shop/Tiltfile")
			p.file("shop/Tiltfile.dev")
			one, two := p.open("shop/Tiltfile"), p.open("shop/Tiltfile.dev")
			p.move("shop", "store")
			same(t, "the first", one, p.open("store/Tiltfile"))
			same(t, "the second", two, p.open("store/Tiltfile.dev"))
		}},
		{"a ledger of the real path, from before", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			if id, got := p.ledger("shop/Tiltfile"), p.open("shop/Tiltfile"); got.ID != id || len(got.Former) > 0 {
				t.Errorf("got %+v, want ID %s", got, id)
			}
		}},
		{"a ledger of a linked path, from before", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			p.link("shop", "current")
			id := p.ledger("current/Tiltfile")
			if got := p.open("current/Tiltfile"); got.ID != id || len(got.Former) > 0 {
				t.Errorf("got %+v, want ID %s", got, id)
			}
			same(t, "by its real path", p.open("current/Tiltfile"), p.open("shop/Tiltfile"))
		}},
		{"ledgers of both, from before", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			p.link("shop", "current")
			real, linked := p.ledger("shop/Tiltfile"), p.ledger("current/Tiltfile")
			if got := p.open("shop/Tiltfile"); got.ID != real || len(got.Former) > 0 {
				t.Errorf("by the real path: %+v", got)
			}
			for _, path := range []string{"current/Tiltfile", "shop/Tiltfile"} {
				if got := p.open(path); got.ID != real || !slices.Equal(got.Former, []string{linked}) {
					t.Errorf("by %s: %+v, want %s, formerly %s", path, got, real, linked)
				}
			}
			p.file("other/Tiltfile")
			p.check(os.Remove(p.path("current")))
			p.link("other", "current")
			if got := p.open("current/Tiltfile"); got.ID == real || got.ID == linked || len(got.Former) > 0 {
				t.Errorf("the link leads elsewhere now: %+v", got)
			}
		}},
		{"without a context", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			p.link("shop", "current")
			a, err := p.r.Open(t.Context(), p.path("shop/Tiltfile"), "")
			p.check(err)
			b, err := p.r.Open(t.Context(), p.path("current/Tiltfile"), "")
			p.check(err)
			same(t, "linked", a, b)
			if _, err := os.Stat(p.r.dir); !os.IsNotExist(err) {
				t.Errorf("something was recorded: %v", err)
			}
		}},
		{"only looked for", func(t *testing.T, p *place) {
			p.find("shop/Tiltfile")
			if left, _ := filepath.Glob(filepath.Join(p.r.dir, "*.json")); len(left) > 0 {
				t.Errorf("recorded: %v", left)
			}
		}},
		{"damaged records", func(t *testing.T, p *place) {
			p.file("shop/Tiltfile")
			before := p.open("shop/Tiltfile")
			p.file("state/projects/0123456789ab.json")
			p.file("state/projects/notes.txt")
			same(t, "another's", before, p.open("shop/Tiltfile"))
			p.check(os.WriteFile(p.path("state/projects/"+before.ID+".json"), []byte("{"), 0o600))
			same(t, "its own", before, p.open("shop/Tiltfile"))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.do(t, newPlace(t)) })
	}
}

// TestTogether opens one project and several others at the same time.
func TestTogether(t *testing.T) {
	p := newPlace(t)
	var wg sync.WaitGroup
	seen := make([]string, 40)
	for i := range seen {
		wg.Go(func() {
			got, err := p.r.Open(t.Context(), p.path(fmt.Sprintf("p%d/Tiltfile", i%4)), "kind")
			if err != nil {
				t.Error(err)
			}
			seen[i] = got.ID
		})
	}
	wg.Wait()
	for i := range seen {
		if seen[i] != seen[i%4] {
			t.Errorf("project %d was given two IDs", i%4)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.r.dir, "[^.]*")); len(left) != 4 {
		t.Errorf("there are %s", strings.Join(left, " "))
	}
}
