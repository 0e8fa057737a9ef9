// Package verdict keeps the verdicts of tests that have passed, each under the sum of all that the test was about, so that a test need not
// run again while all of that is the same. It starts no goroutines.
package verdict

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// Inputs are all that a test is about.
type Inputs struct {
	// Test is the declaration of the test.
	Test model.Manifest
	// Needs are the resources that it judges.
	Needs []Need
	// Unknown is set if more than that is part of it, such as changes that others have made in the cluster: no verdict can be kept.
	Unknown bool
}

// Need is a resource that a test judges.
type Need struct {
	// Declared is the part of its declaration that an update brings into effect.
	Declared model.Manifest
	// Watched are files that it depends on, besides those in its images.
	Watched model.WatchSpec
	// Images are the contents that its containers run.
	Images []string
	// Files are the files that its containers have in place of the images', absolute.
	Files []string
}

// Known reports whether a verdict about the inputs may be kept: a test that declares none of them may depend on anything.
func (in Inputs) Known() bool {
	return !in.Unknown && len(in.Needs)+len(in.Test.Local.Watch.Paths) > 0
}

// readable bounds the size of the files of a command that are part of the inputs.
const readable = 16 << 20

// Key returns the sum of the inputs, with the contents that files have now.
func (in Inputs) Key(ctx context.Context) (string, error) {
	l := in.Test.Local
	sum := struct {
		Test    model.ManifestName
		Command model.Cmd
		Files   []string
		Needs   []Need
	}{in.Test.Name, l.Update, nil, in.Needs}
	specs := []model.WatchSpec{l.Watch, {Paths: scripts(l.Update)}}
	for _, n := range in.Needs {
		specs = append(specs, model.WatchSpec{Paths: n.Files}, n.Watched)
	}
	for _, spec := range specs {
		files, err := imagebuild.SumFiles(ctx, spec)
		if err != nil {
			return "", err
		}
		sum.Files = append(sum.Files, files)
	}
	raw, err := json.Marshal(sum)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(raw)
	return hex.EncodeToString(hash[:]), nil
}

// scripts returns the files of a sensible size that the words of a command name: they are part of the test whether or not it says so.
func scripts(cmd model.Cmd) []string {
	return slices.DeleteFunc(process.NamedFiles(cmd), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || info.Size() > readable
	})
}

// kept is the number of verdicts that a Memory keeps.
const kept = 1000

// Memory keeps verdicts in a folder with one file for each, so that other processes can use them. It is a cache: a file that cannot be read
// or written counts as missing. A nil Memory is empty.
type Memory struct{ dir string }

// NewMemory returns the memory in a folder, which is made when it is first written to.
func NewMemory(dir string) *Memory { return &Memory{dir} }

func (m *Memory) path(key string) string { return filepath.Join(m.dir, key+".json") }

// Passed returns the verdict of the run that has passed with the inputs of a key; ok is false if none is known.
func (m *Memory) Passed(key string) (v model.Verdict, ok bool) {
	if m == nil || key == "" {
		return model.Verdict{}, false
	}
	raw, err := os.ReadFile(m.path(key))
	if err != nil || json.Unmarshal(raw, &v) != nil || v.Key != key {
		return model.Verdict{}, false
	}
	v.Cached = true
	now := time.Now()
	_ = os.Chtimes(m.path(key), now, now) // it is one of the newest again
	return v, true
}

// Keep records the verdict of a run that has passed, and forgets the oldest ones.
func (m *Memory) Keep(v model.Verdict) {
	if m == nil {
		return
	}
	raw, err := json.Marshal(v)
	if err != nil || os.MkdirAll(m.dir, 0o700) != nil || atomicfile.WriteCache(m.path(v.Key), raw, 0o600) != nil {
		return
	}
	if entries, err := os.ReadDir(m.dir); err == nil && len(entries) > kept {
		m.forget(entries)
	}
}

// forget removes all but the newest files.
func (m *Memory) forget(entries []os.DirEntry) {
	at := map[string]time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			at[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		return cmp.Or(at[b.Name()].Compare(at[a.Name()]), strings.Compare(a.Name(), b.Name()))
	})
	for _, e := range entries[kept:] {
		_ = os.Remove(filepath.Join(m.dir, e.Name()))
	}
}
