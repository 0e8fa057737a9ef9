//go:build linux

package synclet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

func (r *rig) wantTree(want map[string]string) {
	r.Helper()
	if d := cmp.Diff(want, tree(r, r.remote)); d != "" {
		r.Errorf("the container (-want +got):\n%s", d)
	}
}

func TestApply(t *testing.T) {
	r := newRig(t)
	r.write("a", "one")
	writeFile(t, filepath.Join(r.local, "bin/tool"), "#!/bin/sh\n", 0o755)
	check(t, os.Symlink("../a", filepath.Join(r.local, "bin/link")))
	check(t, os.Mkdir(filepath.Join(r.local, "empty"), 0o750))
	rep := r.apply("a", "bin/tool", "bin/link", "empty")
	if rep.Files != 4 || rep.Same != 0 {
		t.Errorf("report %+v", rep)
	}
	r.wantTree(map[string]string{"a": "-rw-r--r-- one", "bin": "folder", "bin/tool": "-rwxr-xr-x #!/bin/sh\n", "bin/link": "-> ../a", "empty": "folder"})

	info, err := os.Stat(filepath.Join(r.remote, "a"))
	check(t, err)
	here, err := os.Stat(filepath.Join(r.local, "a"))
	check(t, err)
	if !info.ModTime().Equal(here.ModTime()) {
		t.Errorf("modification time %s, want %s", info.ModTime(), here.ModTime())
	}

	if rep := r.apply("a", "bin/tool", "bin/link", "empty"); rep.Files != 0 || rep.Same != 4 {
		t.Errorf("nothing has changed: %+v", rep)
	}
	r.write("a", "two")
	check(t, os.Remove(filepath.Join(r.local, "bin/link")))
	check(t, os.Chmod(filepath.Join(r.local, "bin/tool"), 0o700))
	if rep := r.apply("a", "bin/tool", "bin/link", "empty"); rep.Files != 2 || rep.Deletes != 1 {
		t.Errorf("report %+v", rep)
	}
	r.wantTree(map[string]string{"a": "-rw-r--r-- two", "bin": "folder", "bin/tool": "-rwx------ #!/bin/sh\n", "empty": "folder"})
}

// TestApplyChangesKind replaces files by folders, folders by links and so on.
func TestApplyChangesKind(t *testing.T) {
	kinds := map[string]func(dir string) error{
		"file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), []byte("file"), 0o644) },
		"link":   func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "x")) },
		"folder": func(dir string) error { return os.Mkdir(filepath.Join(dir, "x"), 0o755) },
		"full folder": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "x"), 0o755), os.WriteFile(filepath.Join(dir, "x/y"), nil, 0o644))
		},
	}
	for from, makeFrom := range kinds {
		for to, makeTo := range kinds {
			for _, many := range []int{0, 100} {
				t.Run(fmt.Sprintf("%s to %s with %d others", from, to, many), func(t *testing.T) {
					r := newRig(t)
					check(t, makeFrom(r.remote))
					check(t, makeTo(r.local))
					names := []string{"x"}
					if to == "full folder" {
						names = append(names, "x/y")
					}
					b := r.batch(names...)
					if from == "full folder" {
						b.Deletes = append(b.Deletes, filepath.Join(r.remote, "x/y"))
					}
					for i := range many {
						r.write(fmt.Sprintf("f%d", i), "text")
						b.Puts = append(b.Puts, r.put(fmt.Sprintf("f%d", i)))
					}
					_, err := r.Apply(t.Context(), b)
					check(t, err)
					r.wantTree(tree(t, r.local))
				})
			}
		}
	}
}

func TestApplyConfined(t *testing.T) {
	r := newRig(t)
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "precious"), "precious", 0o644)
	check(t, os.Symlink(outside, filepath.Join(r.remote, "out")))
	check(t, os.Symlink(filepath.Join(outside, "precious"), filepath.Join(r.remote, "file")))
	check(t, os.MkdirAll(filepath.Join(r.remote, "only"), 0o755))
	r.end()
	r.connect(-1, protocol.Place{Dir: r.remote + "/app"}, protocol.Place{Dir: r.remote + "/only", Name: "one"}, protocol.Place{Dir: r.remote})
	r.write("f", "bad")
	from := filepath.Join(r.local, "f")
	for _, tt := range []struct {
		name string
		b    Batch
	}{
		{"through a link", Batch{Puts: []Put{{Local: from, Remote: r.remote + "/out/precious"}}}},
		{"new file through a link", Batch{Puts: []Put{{Local: from, Remote: r.remote + "/out/new/file"}}}},
		{"dots", Batch{Puts: []Put{{Local: from, Remote: r.remote + "/../x"}}}},
		{"outside", Batch{Puts: []Put{{Local: from, Remote: outside + "/precious"}}}},
		{"beside", Batch{Puts: []Put{{Local: from, Remote: r.remote + "beside"}}}},
		{"relative", Batch{Puts: []Put{{Local: from, Remote: "x"}}}},
		{"delete outside", Batch{Deletes: []string{outside}}},
		{"delete dots", Batch{Deletes: []string{r.remote + "/app/../../x"}}},
	} {
		_, err := r.Apply(t.Context(), tt.b)
		var f *FaultError
		if !errors.As(err, &f) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	// A link itself may be replaced and deleted; its target stays.
	_, err := r.Apply(t.Context(), Batch{Puts: []Put{{Local: from, Remote: r.remote + "/file"}},
		Deletes: []string{r.remote + "/out/precious", r.remote + "/out"}})
	check(t, err)
	if d := cmp.Diff(map[string]string{"precious": "-rw-r--r-- precious"}, tree(t, outside)); d != "" {
		t.Errorf("outside (-want +got):\n%s", d)
	}
}

// TestApplyAllOrNothing checks that no file is changed if one cannot be staged.
func TestApplyAllOrNothing(t *testing.T) {
	r := newRig(t)
	r.write("a", "new")
	r.write("b", "new")
	writeFile(t, filepath.Join(r.remote, "a"), "old", 0o644)
	before := tree(t, r.remote)
	b := r.batch("a", "b")
	b.Puts = append(b.Puts, Put{Local: filepath.Join(r.local, "b"), Remote: "/proc/none/b"})
	_, err := r.Apply(t.Context(), b)
	var f *FaultError
	if !errors.As(err, &f) || len(f.Faults) != 1 || !f.Faults[0].Staged || f.Faults[0].Path != "/proc/none/b" {
		t.Errorf("got %v", err)
	}
	r.wantTree(before)
	r.apply("a", "b")
	r.wantTree(tree(t, r.local))
}

func TestApplySizes(t *testing.T) {
	r := newRig(t)
	for _, n := range []int{0, 1, protocol.MaxData - 1, protocol.MaxData, protocol.MaxData + 1, 3*protocol.MaxData + 7, wholeFile, wholeFile + 1, 10 << 20} {
		name := fmt.Sprintf("f%d", n)
		r.write(name, strings.Repeat("0123456789abcdef", n/16+1)[:n])
		r.apply(name)
	}
	r.wantTree(tree(t, r.local))
}

// TestBulk tests updates of many files with different modes, some of which the umask would take: existing files, new ones, programs and
// linked files.
func TestBulk(t *testing.T) {
	r := newRig(t)
	var names []string
	for i := range 300 {
		n := fmt.Sprintf("d%d/f%d", i/43, i)
		names = append(names, n)
		r.write(n, fmt.Sprintf("new content of %d", i))
		check(t, os.Chmod(filepath.Join(r.local, n), []fs.FileMode{0o644, 0o644, 0o666, 0o777, 0o600, 0o444, 0}[i/2%7]))
		if i%3 == 0 {
			writeFile(t, filepath.Join(r.remote, n), strings.Repeat("old and longer than new ", 5), 0o600)
		}
	}
	running := filepath.Join(r.remote, names[1])
	sleep, err := os.ReadFile("/bin/sleep")
	check(t, err)
	writeFile(t, running, string(sleep), 0o755)
	check(t, os.Link(filepath.Join(r.remote, names[0]), filepath.Join(r.remote, "linked")))
	p, err := os.StartProcess(running, []string{"sleep", "1000"}, &os.ProcAttr{})
	check(t, err)
	t.Cleanup(func() { _ = p.Kill(); _, _ = p.Wait() })
	if rep := r.apply(names...); rep.Files != 300 {
		t.Errorf("report %+v", rep)
	}
	want := tree(t, r.local)
	want["linked"] = "-rw------- " + strings.Repeat("old and longer than new ", 5)
	r.wantTree(want)
}

// TestBulkRemoves tests updates of many files that also remove some: a folder becomes a file, a file a folder, and others go.
func TestBulkRemoves(t *testing.T) {
	r := newRig(t)
	names := []string{"file"}
	for i := range 100 {
		names = append(names, fmt.Sprintf("gone/%d/%d", i%9, i), fmt.Sprintf("folder/f/%d", i))
	}
	for _, n := range names {
		r.write(n, "old "+n)
	}
	r.apply(names...)
	check(t, os.RemoveAll(r.local))
	b := r.batch(append(names, "gone", "gone/0", "folder/f")...)
	for i := range 100 {
		for _, n := range []string{fmt.Sprintf("new/%d/%d", i/30, i), fmt.Sprintf("file/a/%d", i)} {
			r.write(n, fmt.Sprint("new ", i))
			b.Puts = append(b.Puts, r.put(n))
		}
	}
	r.write("folder", "a file now")
	b.Puts = append(b.Puts, r.put("folder"))
	_, err := r.Apply(t.Context(), b)
	check(t, err)
	want := tree(t, r.local)
	for i := 1; i < 9; i++ { // nothing said that they are gone
		want[fmt.Sprintf("gone/%d", i)] = "folder"
	}
	want["gone"] = "folder"
	r.wantTree(want)
}

// TestBulkWithoutRoom tests an update for which there is room only after it has removed files.
func TestBulkWithoutRoom(t *testing.T) {
	r := newRig(t)
	r.end()
	if err := syscall.Mount("tmpfs", r.remote, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(r.remote, 0)) })
	r.connect(-1)
	t.Cleanup(func() { r.end() })
	var old, names []string
	for i := range 150 {
		old, names = append(old, fmt.Sprint("old/", i)), append(names, fmt.Sprint("new/", i))
	}
	for _, n := range old {
		r.write(n, strings.Repeat("x", 4000))
	}
	r.apply(old...)
	check(t, os.RemoveAll(filepath.Join(r.local, "old")))
	for _, n := range names {
		r.write(n, strings.Repeat("y", 4000))
	}
	r.apply(append(old, append(names, "old")...)...)
	r.wantTree(tree(t, r.local))
}
