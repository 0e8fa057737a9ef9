package watch

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLateMount mounts another folder, and another file, into a watched tree, and unmounts them.
func TestLateMount(t *testing.T) {
	r := newRig(t, newBackend())
	write(t, r.path("tree/on/f"), "below")
	write(t, r.path("tree/on/sub/g"), "below")
	write(t, r.path("tree/file"), "below")
	write(t, r.path("other folder/f"), "above")
	write(t, r.path("other folder/sub/h"), "above")
	write(t, r.path("other file"), "above")
	if err := unix.Mount(r.path("other folder"), r.path("tree/on"), "", unix.MS_BIND, ""); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	do(t, unix.Unmount(r.path("tree/on"), 0))
	age(t, r.dir)
	r.set(r.spec("t", []string{"tree"}))
	r.run()
	r.hashedAll()
	settled := func(what string, do func() error, want ...string) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		for _, path := range want {
			r.await(what, func() bool { return r.got["t"][path] })
		}
		r.settle()
		if got := r.take(); len(got) != 1 || len(want) == 0 {
			t.Errorf("%s: got %q", what, got)
		}
	}
	bind := func(from, to string) func() error {
		return func() error {
			t.Cleanup(func() { _ = unix.Unmount(r.path(to), unix.MNT_DETACH) })
			return unix.Mount(r.path(from), r.path(to), "", unix.MS_BIND, "")
		}
	}
	settled("the folder is mounted", bind("other folder", "tree/on"), "tree/on/f", "tree/on/sub/g", "tree/on/sub/h")
	settled("a file in it is written", func() error { return os.WriteFile(r.path("tree/on/sub/h"), []byte("new"), 0o644) }, "tree/on/sub/h")
	settled("a file is mounted", bind("other file", "tree/file"), "tree/file")
	settled("the folder is unmounted", func() error { return unix.Unmount(r.path("tree/on"), 0) }, "tree/on/f", "tree/on/sub/g", "tree/on/sub/h")
	settled("the file is unmounted", func() error { return unix.Unmount(r.path("tree/file"), 0) }, "tree/file")
	settled("a file is written again", func() error { return os.WriteFile(r.path("tree/on/sub/g"), []byte("new"), 0o644) }, "tree/on/sub/g")
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{"/a": "/a", `/a\040b`: "/a b", `/a\134`: `/a\`, `/a\04`: `/a\04`, `/\999x`: `/\999x`} {
		if got := unescape(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := changedMounts(map[string]string{"/a": "1", "/b": "2", "/c": "3"}, map[string]string{"/a": "1", "/b": "4", "/d": "5"}); len(got) != 3 ||
		!slices.ContainsFunc(got, func(n notice) bool { return n.path == "/c" }) {
		t.Errorf("got %+v", got)
	}
}
