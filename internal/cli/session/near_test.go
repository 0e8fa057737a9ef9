package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadable names files that a session may and may not ask for.
func TestReadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.go")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		file:                           "",
		link:                           "",
		"main.go":                      "is not an absolute path",
		"-c evil":                      "is not an absolute path",
		"":                             "is not an absolute path",
		dir:                            "is not a regular file",
		os.DevNull:                     "is not a regular file",
		filepath.Join(dir, "other.go"): "is not on this machine",
	} {
		err := readable(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}
