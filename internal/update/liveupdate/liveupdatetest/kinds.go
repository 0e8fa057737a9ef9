package liveupdatetest

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// kinds are the kinds of the path x in a tree. Beside it are the file "other" and the folder "real", which has a file of the
// same name as the folders at x; outside is a folder that is no part of the tree.
var kinds = []struct {
	name string
	make func(x, outside string) error
}{
	{"nothing", func(string, string) error { return nil }},
	{"file", func(x, _ string) error { return os.WriteFile(x, []byte("file\n"), 0o644) }},
	{"empty folder", func(x, _ string) error { return os.Mkdir(x, 0o755) }},
	{"folder", func(x, _ string) error {
		return errors.Join(os.MkdirAll(filepath.Join(x, "sub"), 0o755), os.WriteFile(filepath.Join(x, "f"), []byte("own\n"), 0o644),
			os.WriteFile(filepath.Join(x, "sub/g"), []byte("own\n"), 0o644))
	}},
	{"folder of a folder", func(x, _ string) error {
		return errors.Join(os.MkdirAll(filepath.Join(x, "f"), 0o755), os.WriteFile(filepath.Join(x, "f/h"), []byte("own\n"), 0o644))
	}},
	{"folder of links", func(x, outside string) error {
		return errors.Join(os.Mkdir(x, 0o755), os.Symlink("../real", filepath.Join(x, "sub")), os.Symlink(outside, filepath.Join(x, "f")))
	}},
	{"link to a file", func(x, _ string) error { return os.Symlink("other", x) }},
	{"link to a folder", func(x, _ string) error { return os.Symlink("real", x) }},
	{"link to nowhere", func(x, _ string) error { return os.Symlink("nowhere", x) }},
	{"link to outside", func(x, outside string) error { return os.Symlink(outside, x) }},
}

// row is a tree whose x changes from one kind into another one.
type row struct{ from, to int }

func (r row) String() string { return kinds[r.from].name + " to " + kinds[r.to].name }
func (r row) dir() string    { return fmt.Sprintf("%d-%d", r.from, r.to) }

// KindsConformance checks that every updater replaces any kind of file at a path by any other: in few trees at a time, with the
// removal as an update of its own, and in all trees in one update, as when a branch is switched. remote is an empty folder in
// the container, synced from local.
func KindsConformance(t *testing.T, p Place, local, remote string) {
	k := &kindsTest{t, p, local, remote, path.Join(path.Dir(remote), "outside")}
	p.Ask(t, "mkdir -p "+k.outside+"/sub && cd "+k.outside+" && echo precious >f && echo precious >h && echo precious >sub/g")
	var rows []row
	for from := range kinds {
		for to := range kinds {
			rows = append(rows, row{from, to})
		}
	}
	reset := func(t *testing.T) {
		k.t = t
		k.change(rows, func(r row) error { return kinds[r.from].make(k.x(r), k.outside) })
		k.same("before")
	}
	for name, steps := range map[string]int{"in one update": 1, "removed first": 2} {
		t.Run(name, func(t *testing.T) {
			reset(t)
			for to := range kinds {
				these := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.to != to })
				if steps == 2 {
					k.change(these, func(row) error { return nil })
				}
				k.change(these, func(r row) error { return kinds[r.to].make(k.x(r), k.outside) })
			}
			k.same("afterwards")
		})
	}
	t.Run("all at once", func(t *testing.T) {
		reset(t)
		plan := k.change(rows, func(r row) error { return kinds[r.to].make(k.x(r), k.outside) })
		k.same("afterwards")
		k.ok(k.update(plan)) // an answer may be lost, and the update is repeated
		k.same("repeated")
	})
	t.Run("refused", func(t *testing.T) { k.t = t; k.refused() })
}

type kindsTest struct {
	t                      *testing.T
	p                      Place
	local, remote, outside string
}

func (k *kindsTest) x(r row) string { return filepath.Join(k.local, r.dir(), "x") }

func (k *kindsTest) ok(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(problem.Text(err))
	}
}

func (k *kindsTest) update(plan liveupdate.Plan) error {
	_, err := k.p.Updater.Update(k.t.Context(), k.p.Container, plan, logstore.Discard)
	return err
}

// change replaces x in some trees and updates the container with the paths that a watcher reports: files and links that came or
// went, and everything that gave way to a folder.
func (k *kindsTest) change(rows []row, to func(row) error) liveupdate.Plan {
	k.t.Helper()
	var changed []string
	for _, r := range rows {
		dir := filepath.Join(k.local, r.dir())
		k.ok(errors.Join(os.MkdirAll(filepath.Join(dir, "real/sub"), 0o755), os.WriteFile(filepath.Join(dir, "other"), []byte("other\n"), 0o644),
			os.WriteFile(filepath.Join(dir, "real/f"), []byte("real\n"), 0o644), os.WriteFile(filepath.Join(dir, "real/sub/g"), []byte("real\n"), 0o644)))
		before := list(k.t, dir)
		k.ok(errors.Join(os.RemoveAll(k.x(r)), to(r)))
		after := list(k.t, dir)
		for p := range before {
			if _, still := after[p]; !still {
				changed = append(changed, filepath.Join(dir, p))
			}
		}
		for p, is := range after {
			if was, known := before[p]; !known || was != is || !strings.HasPrefix(p, "x") {
				changed = append(changed, filepath.Join(dir, p))
			}
		}
	}
	slices.Sort(changed)
	plan, err := liveupdate.Make(liveupdate.Input{Changed: changed,
		Spec: model.LiveUpdate{Syncs: []model.Sync{{LocalPath: k.local, RemotePath: k.remote}}}})
	k.ok(err)
	if err := k.update(plan); err != nil {
		k.t.Fatalf("%s: %s", rows[0], problem.Text(err))
	}
	return plan
}

// list describes the entries of a folder.
func list(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		switch {
		case d.IsDir():
			out[rel] = "folder"
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			out[rel] = "-> " + to
			return err
		default:
			b, err := os.ReadFile(p)
			out[rel] = strings.TrimSpace(string(b))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// listTar is list for an archive of the folder.
func listTar(t *testing.T, archive string) map[string]string {
	out := map[string]string{}
	for r := tar.NewReader(strings.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		is := "folder"
		switch h.Typeflag {
		case tar.TypeSymlink:
			is = "-> " + h.Linkname
		case tar.TypeReg:
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			is = strings.TrimSpace(string(b))
		}
		if name := path.Clean(h.Name); name != "." {
			out[name] = is
		}
	}
}

// same checks that the container has the local files, and that nothing outside of the tree has changed.
func (k *kindsTest) same(when string) {
	k.t.Helper()
	for dir, want := range map[string]map[string]string{
		k.remote:  list(k.t, k.local),
		k.outside: {"f": "precious", "h": "precious", "sub": "folder", "sub/g": "precious"},
	} {
		got := listTar(k.t, k.p.Ask(k.t, "tar -C "+dir+" -c -f - ."))
		if d := cmp.Diff(want, got); d != "" {
			k.t.Errorf("%s, %s (-want +got):\n%s\n(%s)", when, dir, d, kindNames())
		}
	}
}

func kindNames() string {
	var names []string
	for i, k := range kinds {
		names = append(names, fmt.Sprintf("%d %s", i, k.name))
	}
	return strings.Join(names, ", ")
}

// refused changes files that the container cannot take: behind a link of the image that leads out of the tree, and where the container
// has a folder with files of its own. In both cases, only a new image is right.
func (k *kindsTest) refused() {
	k.p.Ask(k.t, "cd "+k.remote+" && mkdir -p refused/full && echo theirs >refused/full/theirs && ln -s "+k.outside+" refused/out && mkdir -p refused/real && ln -s real refused/in")
	for name, file := range map[string]string{"a link out": "refused/out/new", "a folder behind it": "refused/out/sub/new", "files of its own": "refused/full"} {
		copies := []liveupdate.Copy{{Local: put(k.t, k.t.TempDir(), "a", []byte("a\n"), 0o644), Remote: k.remote + "/" + file}}
		err := k.update(liveupdate.Plan{Copies: copies})
		if liveupdate.Classify(err) != liveupdate.FallBack || !strings.Contains(err.Error(), k.remote+"/"+file) {
			k.t.Errorf("%s: %v: %v", name, liveupdate.Classify(err), err)
		}
	}
	copies := []liveupdate.Copy{{Local: put(k.t, k.t.TempDir(), "a", []byte("a\n"), 0o644), Remote: k.remote + "/refused/in/new"}}
	k.ok(k.update(liveupdate.Plan{Copies: copies}))
	want := "refused/full/theirs\nrefused/in\nrefused/out\nrefused/real/new\n"
	if got := k.p.Ask(k.t, "cd "+k.remote+" && find refused ! -type d | sort; find "+k.outside+" -name new"); got != want {
		k.t.Errorf("the container has:\n%s", got)
	}
}
