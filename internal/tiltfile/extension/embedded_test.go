package extension

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEmbeddedDir has several goroutines request the same folder: each gets it complete.
func TestEmbeddedDir(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s := &Store{Dir: dir}
			got, err := s.EmbeddedDir("helm_resource")
			if err != nil {
				t.Error(err)
				return
			}
			for _, name := range []string{"Tiltfile", "apply.sh", "delete.sh", "repo.sh"} {
				info, err := os.Stat(filepath.Join(got, name))
				if err != nil {
					t.Error(err)
				} else if name != "Tiltfile" && info.Mode().Perm() != 0o755 {
					t.Errorf("%s has mode %v", name, info.Mode())
				}
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(filepath.Join(dir, "embedded"))
	if err != nil || len(entries) != 1 {
		t.Errorf("folders %v, %v, want one", entries, err)
	}
}

func TestEmbeddedNames(t *testing.T) {
	names := Embedded()
	if !slices.IsSorted(names) || len(names) < 20 {
		t.Errorf("names %v", names)
	}
	for _, name := range names {
		if !IsEmbedded(name) {
			t.Errorf("%s has no Tiltfile", name)
		}
	}
	for _, name := range []string{"", ".", "gone", "restart_process/Tiltfile"} {
		if IsEmbedded(name) {
			t.Errorf("%q is embedded", name)
		}
	}
}

// TestPageListsEmbedded checks the list in the documentation.
func TestPageListsEmbedded(t *testing.T) {
	text, err := os.ReadFile("../../../web/docs/extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(string(text), -1) {
		for _, name := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(row[1], -1) {
			listed = append(listed, name[1])
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(Embedded(), listed); diff != "" {
		t.Errorf("the list in the documentation differs from the embedded extensions (-embedded +listed):\n%s", diff)
	}
}
