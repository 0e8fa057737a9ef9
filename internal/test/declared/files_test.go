//go:build linux

package declared

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSameTree(t *testing.T) {
	write := func(dir, name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		change func(copied string)
		want   string
	}{
		"equal":   {func(string) {}, ""},
		"older":   {func(dir string) { write(dir, "d/b", "old") }, `/site/d/b is "old", not "two"`},
		"missing": {func(dir string) { _ = os.Remove(filepath.Join(dir, "a")) }, "/site/a is not there"},
		"more":    {func(dir string) { write(dir, ".a.part", "x") }, "/site/.a.part is still there"},
	} {
		source, container := t.TempDir(), t.TempDir()
		copied := filepath.Join(container, "site")
		for _, dir := range []string{source, copied} {
			write(dir, "a", "one")
			write(dir, "d/b", "two")
		}
		tt.change(copied)
		f, err := os.Open(container)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := (root{f}).sameTree("/site", source); err != nil {
			got = err.Error()
		}
		_ = f.Close()
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
