//go:build linux

package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOtherFiles follows links as programs of the other container do, and never out of it.
func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	for _, step := range []error{
		os.MkdirAll(filepath.Join(dir, "data/app"), 0o755), os.Mkdir(filepath.Join(dir, "srv"), 0o755),
		os.WriteFile(filepath.Join(dir, "data/app/f"), nil, 0o644),
		os.Symlink("/data", filepath.Join(dir, "absolute")), os.Symlink("../data/app", filepath.Join(dir, "srv/relative")),
		os.Symlink("../../../..", filepath.Join(dir, "srv/out")), os.Symlink("loop", filepath.Join(dir, "loop")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	o := otherFiles{root}
	for _, tt := range []struct{ name, want, followed string }{
		{"/", ".", "."},
		{"/data/app/f", "data/app/f", "data/app/f"},
		{"/absolute", "absolute", "data"},
		{"/absolute/app/f", "data/app/f", "data/app/f"},
		{"/srv/relative/f", "data/app/f", "data/app/f"},
		{"/srv/relative", "srv/relative", "data/app"},
		{"/srv/out/data", "data", "data"},
		{"/absolute/new/file", "data/new/file", "data/new/file"},
		{"/loop/f", "", ""},
	} {
		got, err := o.resolve(tt.name, false)
		followed, ferr := o.resolve(tt.name, true)
		if got != tt.want || followed != tt.followed || (err != nil) != (tt.want == "") || (ferr != nil) != (tt.want == "") {
			t.Errorf("%s: got %q, %v, followed %q, %v", tt.name, got, err, followed, ferr)
		}
	}
	if info, err := o.Stat("/absolute/app/f"); err != nil || info.IsDir() {
		t.Errorf("stat: %v", err)
	}
	if place, err := o.OpenRoot("/absolute/app"); err != nil {
		t.Error(err)
	} else if _, err := place.Lstat("f"); err != nil {
		t.Error(err)
	}
}
