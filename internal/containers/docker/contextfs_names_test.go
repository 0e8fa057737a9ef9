package docker

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestNamesAreChecked sends files whose names are not UTF-8: the error names the first one that is not ignored.
func TestNamesAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name  string
		make  func(dir string) error
		wrong string
	}{
		{"plain", func(dir string) error { return os.WriteFile(filepath.Join(dir, "café"), nil, 0o644) }, ""},
		{"Latin-1", func(dir string) error { return os.WriteFile(filepath.Join(dir, "caf\xe9"), nil, 0o644) },
			`the name of the file "sub/caf\xe9" is not UTF-8, so the engine cannot accept it`},
		{"link", func(dir string) error { return os.Symlink("caf\xe9", filepath.Join(dir, "link")) },
			`the symbolic link sub/link points to "caf\xe9", which is not UTF-8, so the engine cannot accept it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(filepath.Join(dir, "sub")); err != nil {
				t.Skipf("this file system has only names in UTF-8: %v", err)
			}
			files, err := newContextFS(dir, nil, new(gone))
			if err != nil {
				t.Fatal(err)
			}
			names := &checkedFS{FS: files}
			err = names.Walk(t.Context(), "", func(string, fs.DirEntry, error) error { return nil })
			wrong := names.wrong.Load()
			if (err != nil) != (tt.wrong != "") || (wrong != nil) != (tt.wrong != "") || wrong != nil && wrong.Summary != tt.wrong {
				t.Errorf("got %v, %v; want %q", wrong, err, tt.wrong)
			}
		})
	}
}
