//go:build linux

package synclet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestReplacedIsLetGo replaces whatever may be at a file's path. The synclet holds it while that happens, and no longer.
func TestReplacedIsLetGo(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"a file":  func(path string) error { return os.WriteFile(path, []byte("old"), 0) },
		"a link": func(path string) error {
			return errors.Join(os.WriteFile(path+".target", []byte("old"), 0o644), os.Symlink(filepath.Base(path)+".target", path))
		},
		"a link to nowhere": func(path string) error { return os.Symlink("nowhere", path) },
		"a link to outside": func(path string) error { return os.Symlink("/proc/none", path) },
		"a pipe":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"an empty folder":   func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			path := filepath.Join(r.remote, "f")
			check(t, prepare(path))
			for _, text := range []string{"new", "", strings.Repeat("newer", 100_000)} {
				r.write("f", text)
				_, err := r.Apply(r.Context(), r.batch("f"))
				check(t, err)
				info, err := os.Lstat(path)
				check(t, err)
				if got, err := os.ReadFile(path); err != nil || string(got) != text || !info.Mode().IsRegular() {
					t.Errorf("%s with %d bytes, want %d; %v", info.Mode(), len(got), len(text), err)
				}
				k8stest.Eventually(t, "the end of what was replaced", func() error { return heldBelow(r.remote) })
			}
			if got, err := os.ReadFile(path + ".target"); err == nil && string(got) != "old" {
				t.Errorf("the link's target: %q", got)
			}
		})
	}
}

// heldBelow returns an error if this process has anything open below a folder.
func heldBelow(dir string) error {
	list, err := os.ReadDir("/proc/self/fd")
	for _, e := range list {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, dir+"/") {
			return fmt.Errorf("%s is open", to)
		}
	}
	return err
}
