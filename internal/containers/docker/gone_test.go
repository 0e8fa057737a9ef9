package docker

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tonistiigi/fsutil"
	"github.com/tonistiigi/fsutil/types"

	"github.com/hone-dev/hone/pkg/model"
)

// TestFileGoesAwayDuringTheWalk removes a file while its folder is walked: all others are sent, and the file is
// reported when it comes back.
func TestFileGoesAwayDuringTheWalk(t *testing.T) {
	for name, ignores := range map[string][]model.Ignore{
		"plain":             nil,
		"with ignore rules": {{Patterns: []string{"other", "!other/kept"}}},
		"rules elsewhere":   {{Base: "/", Patterns: []string{"**/nothing"}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, "sub", name) }
			write := func(name string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path(name), []byte(name), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"a", "b", "c", "d"} {
				write(name)
			}
			for i := range ignores {
				if ignores[i].Base == "" {
					ignores[i].Base = dir
				}
			}
			away := &gone{}
			files, err := newContextFS(dir, ignores, away)
			if err != nil {
				t.Fatal(err)
			}
			var sent []string
			err = files.Walk(t.Context(), "", func(name string, entry fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				sent = append(sent, name)
				if filepath.Base(name) == "a" { // the folder has already been read
					if err := os.Remove(path("b")); err != nil {
						t.Fatal(err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(sent)
			if diff := cmp.Diff([]string{"sub", "sub/a", "sub/c", "sub/d"}, sent); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if back := away.back(); back != nil {
				t.Errorf("back before it came: %q", back)
			}
			write("b")
			if diff := cmp.Diff([]string{path("b")}, away.back()); diff != "" {
				t.Errorf("back (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFileGoesAwayBeforeItIsRead removes a file between the walk and the read of its content.
func TestFileGoesAwayBeforeItIsRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	away := &gone{}
	files, err := newContextFS(dir, nil, away)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Open("a"); err == nil {
		t.Fatal("opened a file that is not there")
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{file}, away.back()); diff != "" {
		t.Errorf("back (-want +got):\n%s", diff)
	}
}

// TestFsutilLeavesOutTheRest shows why steadyFS exists. If it fails one day, steadyFS only needs to record files.
func TestFsutilLeavesOutTheRest(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plain, err := fsutil.NewFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	filtered, err := fsutil.NewFilterFS(plain, &fsutil.FilterOpt{Map: func(string, *types.Stat) fsutil.MapResult { return fsutil.MapResultKeep }})
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	err = filtered.Walk(t.Context(), "", func(name string, _ fs.DirEntry, err error) error {
		sent = append(sent, name)
		if name == "a" {
			return os.Remove(filepath.Join(dir, "b"))
		}
		return err
	})
	if diff := cmp.Diff([]string{"a"}, sent); diff != "" || err != nil {
		t.Errorf("%v; sent (-want +got):\n%s", err, diff)
	}
}
