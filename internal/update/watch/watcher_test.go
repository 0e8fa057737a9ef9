package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// do stops the test on an error of one of the steps.
func do(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// stamps returns two specs for the whole tree, of which b has stamp files.
func stamps(r *rig) []Spec {
	a, b := r.spec("a", []string{"."}), r.spec("b", []string{"."})
	b.Touches = true
	return []Spec{a, b}
}

var behaviour = []struct {
	name string
	// tree lists the initial files: "path" or "path=content".
	tree []string
	// specs are the specs to watch; by default the whole tree as "a".
	specs  func(r *rig) []Spec
	act    func(t *testing.T, r *rig)
	want   []string
	native bool // only where the back end reports more than the portable one
}{
	{
		name: "save", tree: []string{"d/f"},
		act:  func(t *testing.T, r *rig) { write(t, r.path("d/f"), "new") },
		want: []string{"a: d/f"},
	}, {
		name: "save of the same size", tree: []string{"d/f=old"},
		act:  func(t *testing.T, r *rig) { write(t, r.path("d/f"), "new") },
		want: []string{"a: d/f"},
	}, {
		name: "save without a change", tree: []string{"f=text"},
		act: func(t *testing.T, r *rig) { write(t, r.path("f"), "text") },
	}, {
		name: "touch", tree: []string{"f"},
		act: func(t *testing.T, r *rig) { do(t, os.Chtimes(r.path("f"), time.Now(), time.Now())) },
	}, {
		name: "touch, where that counts", tree: []string{"d/f"}, specs: stamps,
		act:  func(t *testing.T, r *rig) { do(t, os.Chtimes(r.path("d/f"), time.Now(), time.Now())) },
		want: []string{"b: d/f"},
	}, {
		name: "touch by a program, which also opens the file", tree: []string{"f"}, specs: stamps,
		act: func(t *testing.T, r *rig) {
			f, err := os.OpenFile(r.path("f"), os.O_WRONLY|os.O_CREATE, 0o644)
			do(t, err, os.Chtimes(r.path("f"), time.Now(), time.Now()), f.Close())
		},
		want: []string{"b: f"},
	}, {
		name: "save without a change, where touches count", tree: []string{"f=text"}, specs: stamps,
		act: func(t *testing.T, r *rig) { write(t, r.path("f"), "text") },
	}, {
		name: "executable bit, where touches count", tree: []string{"f"}, specs: stamps,
		act:  func(t *testing.T, r *rig) { do(t, os.Chmod(r.path("f"), 0o755)) },
		want: []string{"a: f", "b: f"},
	}, {
		name: "open and close for writing", tree: []string{"f"},
		act: func(t *testing.T, r *rig) {
			f, err := os.OpenFile(r.path("f"), os.O_RDWR, 0)
			do(t, err, f.Close())
		},
	}, {
		name: "executable bit", tree: []string{"f"},
		act:  func(t *testing.T, r *rig) { do(t, os.Chmod(r.path("f"), 0o755)) },
		want: []string{"a: f"},
	}, {
		name: "mode set to what it is", tree: []string{"f"},
		act: func(t *testing.T, r *rig) { do(t, os.Chmod(r.path("f"), 0o644)) },
	}, {
		name: "new file", tree: []string{"d/f"},
		act:  func(t *testing.T, r *rig) { write(t, r.path("d/g"), "") },
		want: []string{"a: d/g"},
	}, {
		name: "removed file", tree: []string{"d/f", "d/g"},
		act:  func(t *testing.T, r *rig) { do(t, os.Remove(r.path("d/f"))) },
		want: []string{"a: d/f"},
	}, {
		name: "renamed file", tree: []string{"d/f", "e/h"},
		act:  func(t *testing.T, r *rig) { do(t, os.Rename(r.path("d/f"), r.path("e/g"))) },
		want: []string{"a: d/f e/g"},
	}, {
		name: "replaced by rename", tree: []string{"f"},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("f.tmp1234"), "new")
			do(t, os.Rename(r.path("f.tmp1234"), r.path("f")))
		},
		want: []string{"a: f"},
	}, {
		name: "replaced by rename without a change", tree: []string{"f=same"},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("f.tmp1234"), "same")
			do(t, os.Rename(r.path("f.tmp1234"), r.path("f")))
		},
	}, {
		name: "saved as Vim does", tree: []string{"f"},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("4913"), "")
			do(t, os.Remove(r.path("4913")), os.Rename(r.path("f"), r.path("f~")))
			write(t, r.path("f"), "new")
			do(t, os.Remove(r.path("f~")))
		},
		want: []string{"a: f"},
	}, {
		name: "removed and written again", tree: []string{"d/f=text"},
		act: func(t *testing.T, r *rig) {
			do(t, os.Remove(r.path("d/f")))
			write(t, r.path("d/f"), "text")
		},
	}, {
		name: "changed and restored later is two changes", tree: []string{"f=text"},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("f"), "else")
			r.settle()
			if d := cmp.Diff([]string{"a: f"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("f"), "text")
		},
		want: []string{"a: f"},
	}, {
		name: "new folders", tree: []string{"f"},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("a/b/c/f"), "x")
			write(t, r.path("a/g"), "x")
		},
		want: []string{"a: a/b/c/f a/g"},
	}, {
		name: "empty folder comes and goes", tree: []string{"f"},
		act: func(t *testing.T, r *rig) {
			do(t, os.Mkdir(r.path("d"), 0o755))
			r.settle()
			do(t, os.Remove(r.path("d")))
		},
	}, {
		name: "empty folder in the place of a file comes and goes", tree: []string{"d"},
		act: func(t *testing.T, r *rig) {
			do(t, os.Remove(r.path("d")))
			do(t, os.Mkdir(r.path("d"), 0o755))
			r.settle()
			if d := cmp.Diff([]string{"a: d"}, r.take()); d != "" {
				t.Errorf("it comes (-want +got)\n%s", d)
			}
			do(t, os.Remove(r.path("d")))
		},
		want: []string{"a: d"},
	}, {
		name: "empty folder in the place of another one comes and goes", tree: []string{"d/e/f"},
		act: func(t *testing.T, r *rig) {
			do(t, os.RemoveAll(r.path("d")))
			r.settle()
			do(t, os.MkdirAll(r.path("d/e"), 0o755))
			r.settle()
			if d := cmp.Diff([]string{"a: d d/e d/e/f"}, r.take()); d != "" {
				t.Errorf("it comes (-want +got)\n%s", d)
			}
			do(t, os.RemoveAll(r.path("d")))
		},
		want: []string{"a: d d/e"},
	}, {
		name: "removed folder", tree: []string{"d/e/f", "d/g", "h"},
		act:  func(t *testing.T, r *rig) { do(t, os.RemoveAll(r.path("d"))) },
		want: []string{"a: d d/e d/e/f d/g"},
	}, {
		name: "folder replaced by an equal one", tree: []string{"d/e/f=1", "d/g=2"},
		act: func(t *testing.T, r *rig) {
			equal := filepath.Join(t.TempDir(), "d")
			write(t, filepath.Join(equal, "e/f"), "1")
			write(t, filepath.Join(equal, "g"), "2")
			swap(t, equal, r.path("d")) // no look in between is possible
			r.settle()
			if got := r.take(); len(got) > 0 {
				t.Errorf("reported %v", got)
			}
			write(t, r.path("d/e/f"), "changed later")
		},
		want: []string{"a: d/e/f"},
	}, {
		name: "renamed folder", tree: []string{"d/e/f", "g"},
		act: func(t *testing.T, r *rig) {
			do(t, os.Rename(r.path("d"), r.path("h")))
			r.settle()
			if d := cmp.Diff([]string{"a: d d/e d/e/f h/e/f"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("h/e/f"), "still watched")
		},
		want: []string{"a: h/e/f"},
	}, {
		name: "folder moved out and in", tree: []string{"d/e/f"},
		act: func(t *testing.T, r *rig) {
			out := filepath.Join(t.TempDir(), "out")
			do(t, os.Rename(r.path("d"), out))
			r.settle()
			if d := cmp.Diff([]string{"a: d d/e d/e/f"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, filepath.Join(out, "e/f"), "outside")
			do(t, os.Rename(out, r.path("d2")))
		},
		want: []string{"a: d2/e/f"},
	}, {
		name: "folder becomes file", tree: []string{"d/f"},
		act: func(t *testing.T, r *rig) {
			do(t, os.RemoveAll(r.path("d")))
			write(t, r.path("d"), "file")
		},
		want: []string{"a: d d/f"},
	}, {
		name: "file becomes folder", tree: []string{"d"},
		act: func(t *testing.T, r *rig) {
			do(t, os.Remove(r.path("d")))
			write(t, r.path("d/f"), "file")
		},
		want: []string{"a: d d/f"},
	}, {
		name: "ignores and exceptions", tree: []string{"n/a", "n/keep/b", "o/c", "x.log"},
		specs: func(r *rig) []Spec { return []Spec{r.spec("a", []string{"."}, "n", "!n/keep", "o", "*.log")} },
		act: func(t *testing.T, r *rig) {
			for _, f := range []string{"n/a", "n/new/a", "n/keep/b", "o/c", "x.log", "y.log", "n/keep/c", "p"} {
				write(t, r.path(f), "new")
			}
		},
		want: []string{"a: n/keep/b n/keep/c p"},
	}, {
		name: "droppings", tree: []string{"f", ".git/HEAD"},
		act: func(t *testing.T, r *rig) {
			for _, f := range []string{".f.swp", "f~", "#f#", ".idea/w.xml", "f___jb_tmp___", ".git/HEAD", ".git/index", "d/.git/x"} {
				write(t, r.path(f), "new")
			}
		},
	}, {
		name: "a file that is named is watched even in .git", tree: []string{".git/HEAD", ".git/index"},
		specs: func(r *rig) []Spec { return []Spec{r.spec("a", []string{".git/HEAD"}), r.spec("b", []string{"."})} },
		act: func(t *testing.T, r *rig) {
			write(t, r.path(".git/HEAD"), "new")
			write(t, r.path(".git/index"), "new")
		},
		want: []string{"a: .git/HEAD"},
	}, {
		name: "several targets", tree: []string{"d/f", "e/g"},
		specs: func(r *rig) []Spec {
			return []Spec{r.spec("a", []string{"."}, "e"), r.spec("b", []string{"d", "e"}), r.spec("c", []string{"e"}, "**/g"), r.spec("b", []string{"."})}
		},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("d/f"), "new")
			write(t, r.path("e/g"), "new")
			write(t, r.path("h"), "new")
		},
		want: []string{"a: d/f h", "b: d/f e/g h"},
	}, {
		name: "single file", tree: []string{"d/f", "d/g", "d/e/h"},
		specs: func(r *rig) []Spec { return []Spec{r.spec("a", []string{"d/f"})} },
		act: func(t *testing.T, r *rig) {
			write(t, r.path("d/g"), "new")
			write(t, r.path("d/e/h"), "new")
			write(t, r.path("d/t"), "new")
			r.settle()
			if got := r.take(); len(got) > 0 {
				t.Errorf("reported %v", got)
			}
			do(t, os.Rename(r.path("d/t"), r.path("d/f")))
			r.settle()
			if d := cmp.Diff([]string{"a: d/f"}, r.take()); d != "" {
				t.Error(d)
			}
			do(t, os.Remove(r.path("d/f")))
		},
		want: []string{"a: d/f"},
	}, {
		name: "missing file appears", tree: []string{"g"},
		specs: func(r *rig) []Spec { return []Spec{r.spec("a", []string{"x/y/f"})} },
		act: func(t *testing.T, r *rig) {
			write(t, r.path("h"), "no")
			write(t, r.path("x/h"), "no")
			write(t, r.path("x/y/f"), "yes")
			write(t, r.path("x/y/h"), "no")
		},
		want: []string{"a: x/y/f"},
	}, {
		name: "missing folder appears, goes, and appears again", tree: []string{"g"},
		specs: func(r *rig) []Spec { return []Spec{r.spec("a", []string{"x/y"})} },
		act: func(t *testing.T, r *rig) {
			for _, text := range []string{"1", "2"} {
				write(t, r.path("x/y/z/f"), text)
				write(t, r.path("x/other"), text)
				r.settle()
				if d := cmp.Diff([]string{"a: x/y/z/f"}, r.take()); d != "" {
					t.Error(d)
				}
				do(t, os.RemoveAll(r.path("x")))
				r.settle()
				if d := cmp.Diff([]string{"a: x/y x/y/z x/y/z/f"}, r.take()); d != "" {
					t.Error(d)
				}
			}
		},
	}, {
		name: "folder of a single file goes and comes back", tree: []string{"d/f"},
		specs: func(r *rig) []Spec { return []Spec{r.spec("a", []string{"d/f"})} },
		act: func(t *testing.T, r *rig) {
			do(t, os.RemoveAll(r.path("d")))
			r.settle()
			if d := cmp.Diff([]string{"a: d/f"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("d/f"), "new")
			r.settle()
			if d := cmp.Diff([]string{"a: d/f"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("d/f"), "newer")
		},
		want: []string{"a: d/f"},
	}, {
		name: "folder above the root is moved", tree: []string{"p/q/r/f", "z"}, native: true,
		specs: func(r *rig) []Spec { return []Spec{r.spec("a", []string{"p/q/r"})} },
		act: func(t *testing.T, r *rig) {
			do(t, os.Rename(r.path("p"), r.path("p2")))
			r.settle()
			if d := cmp.Diff([]string{"a: p/q/r p/q/r/f"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("p/q/r/g"), "new")
			r.settle()
			if d := cmp.Diff([]string{"a: p/q/r/g"}, r.take()); d != "" {
				t.Error(d)
			}
			do(t, os.Rename(r.path("p"), r.path("p3")), os.Rename(r.path("p2"), r.path("p")))
			r.settle()
			r.settle() // missing files get their own wait after the folder was found to be another
			if d := cmp.Diff([]string{"a: p/q/r/f p/q/r/g"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("p/q/r/f"), "again")
		},
		want: []string{"a: p/q/r/f"},
	}, {
		name: "links", tree: []string{"d/f", "out/g"},
		specs: func(r *rig) []Spec {
			if err := os.Symlink("f", r.path("d/old")); err != nil {
				r.t.Fatal(err)
			}
			return []Spec{r.spec("a", []string{"d"})}
		},
		act: func(t *testing.T, r *rig) {
			do(t, os.Symlink(r.path("out"), r.path("d/dir")), os.Symlink("f", r.path("d/file")))
			r.settle()
			if d := cmp.Diff([]string{"a: d/dir d/file"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("out/g"), "behind the link")
			do(t, os.Remove(r.path("d/old")), os.Symlink("f", r.path("d/old")))
			do(t, os.Remove(r.path("d/file")), os.Symlink("g", r.path("d/file")))
			do(t, os.Remove(r.path("d/dir")), os.Symlink(r.path("out"), r.path("d/dir")))
		},
		want: []string{"a: d/file"},
	}, {
		name: "root is a link to a folder", tree: []string{"v1/f=1", "v2/f=2"},
		specs: func(r *rig) []Spec {
			if err := os.Symlink("v1", r.path("now")); err != nil {
				r.t.Fatal(err)
			}
			return []Spec{r.spec("a", []string{"now"})}
		},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("v1/f"), "11")
			r.settle()
			if d := cmp.Diff([]string{"a: now/f"}, r.take()); d != "" {
				t.Error(d)
			}
			do(t, os.Symlink("v2", r.path("next")), os.Rename(r.path("next"), r.path("now")))
			r.settle()
			if d := cmp.Diff([]string{"a: now/f"}, r.take()); d != "" {
				t.Error(d)
			}
			write(t, r.path("v2/f"), "22")
		},
		want: []string{"a: now/f"},
	}, {
		name: "hard link", tree: []string{"f"},
		act:  func(t *testing.T, r *rig) { do(t, os.Link(r.path("f"), r.path("g"))) },
		want: []string{"a: g"},
	}, {
		name: "large file", tree: []string{"f=LARGE", "g=LARGE"},
		act: func(t *testing.T, r *rig) {
			write(t, r.path("f"), large+"+")
			write(t, r.path("g"), large+"+")
			r.settle()
			if d := cmp.Diff([]string{"a: f g"}, r.take()); d != "" {
				t.Error(d)
			}
			r.await("the large files to be hashed", func() bool { return hashedIn(r, "f") && hashedIn(r, "g") })
			write(t, r.path("f"), large+"+")
			write(t, r.path("g"), large+"-")
		},
		want: []string{"a: g"},
	},
}

var large = strings.Repeat("0123456789abcdef", smallFile/16)

func hashedIn(r *rig, rel string) bool {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	f := r.w.folders[filepath.Dir(r.path(rel))]
	return f != nil && f.files[filepath.Base(rel)].hashed
}

func TestBehaviour(t *testing.T) {
	for name, newBackend := range backends() {
		for _, tt := range behaviour {
			if tt.native && (name == "portable" || runtime.GOOS != "linux") {
				continue
			}
			t.Run(name+"/"+strings.ReplaceAll(tt.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, newBackend())
				for _, f := range tt.tree {
					path, text, ok := strings.Cut(f, "=")
					if !ok {
						text = "content of " + path
					}
					if text == "LARGE" {
						text = large
					}
					write(t, r.path(path), text)
				}
				age(t, r.dir)
				specs := []Spec{r.spec("a", []string{"."})}
				if tt.specs != nil {
					specs = tt.specs(r)
				}
				r.set(specs...)
				r.run()
				r.hashedAll()
				tt.act(t, r)
				r.settle()
				if d := cmp.Diff(tt.want, r.take()); d != "" {
					t.Errorf("-want +got\n%s", d)
				}
			})
		}
	}
}
