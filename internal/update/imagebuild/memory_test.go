package imagebuild

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// TestMemory keeps the newest builds of each target, however many targets there are, and forgets targets that were not built for long.
func TestMemory(t *testing.T) {
	m := NewMemory(t.TempDir())
	target := func(ref string) model.ImageTarget {
		return model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{Context: "/src"}}
	}
	result := func(tag string) model.ImageResult { return model.ImageResult{Local: tag, Cluster: tag} }
	write(t, filepath.Join(m.dir, "inputs.json"), "of an earlier version")
	write(t, filepath.Join(m.dir, "last", "of an earlier version"), "")
	write(t, filepath.Join(m.dir, "notes.txt"), "of the user")
	m.put("i", target("gone"), result("gone:1"))
	ago := time.Now().AddDate(0, -keptMonths-1, 0)
	if err := os.Chtimes(m.folder(target("gone")), ago, ago); err != nil {
		t.Fatal(err)
	}
	const targets = 20 * kept
	for i := range targets {
		m.put("i", target(fmt.Sprint("t", i)), result("one:1"))
	}
	for i := range kept + 2 {
		m.put(fmt.Sprint("i", i), target("many"), result(fmt.Sprint("many:", i)))
		at := time.Now().Add(time.Duration(i-2*kept) * time.Second)
		if err := os.Chtimes(m.path(target("many"), fmt.Sprint("i", i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.builds(target("many"))); n != kept {
		t.Errorf("%d builds of a target, want %d", n, kept)
	}
	if last, ok := m.Last(target("many")); !ok || last.Local != fmt.Sprint("many:", kept+1) {
		t.Errorf("the last one is %+v", last)
	}
	if _, ok := m.get(target("t1"), "i"); !ok {
		t.Error("a target is forgotten because others were built")
	}
	if _, ok := m.Last(target("gone")); ok {
		t.Error("a target is kept that was not built for long")
	}
	if _, err := os.Stat(filepath.Join(m.dir, "notes.txt")); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(m.dir)
	if err != nil || len(entries) != targets+2 {
		t.Errorf("%d folders, want %d, and the notes: %v", len(entries), targets+1, err)
	}
}
