//go:build linux

package synclet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/update/liveupdate"
)

func planOf(b Batch) (plan liveupdate.Plan) {
	plan.Deletes = b.Deletes
	for _, p := range b.Puts {
		plan.Copies = append(plan.Copies, liveupdate.Copy{Local: p.Local, Remote: p.Remote})
	}
	return plan
}

// TestModel changes a local tree at random while the stream breaks occasionally: after each successful update both trees
// are the same.
func TestModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t)
			pending := map[string]bool{}
			for range 40 {
				for range 1 + rnd.IntN(8) {
					mutate(r, rnd, pending)
				}
				if rnd.IntN(10) == 0 {
					for i := range 100 {
						n := fmt.Sprintf("many/f%d", i)
						writeSafely(r, n, fmt.Sprint(rnd.IntN(3)))
						pending[n] = true
					}
				}
				if rnd.IntN(4) == 0 {
					r.end()
					limit := 40 + rnd.IntN(3000)
					if rnd.IntN(2) == 0 {
						r.back, limit = 40+rnd.IntN(100), -1
					}
					r.connect(limit)
				}
				converge(r, pending)
				if d := cmp.Diff(tree(t, r.local), tree(t, r.remote)); d != "" {
					t.Fatalf("-local +container\n%s", d)
				}
			}
		})
	}
}

func mutate(r *rig, rnd *rand.Rand, pending map[string]bool) {
	name := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "many"}[rnd.IntN(8)]
	path := filepath.Join(r.local, name)
	pending[name] = true
	// The watcher also reports everything that was below.
	_ = filepath.WalkDir(path, func(p string, _ os.DirEntry, err error) error {
		if err == nil {
			rel, _ := filepath.Rel(r.local, p)
			pending[rel] = true
		}
		return nil
	})
	switch rnd.IntN(4) {
	case 0:
		removeAll(r, path)
	case 1:
		removeAll(r, path)
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			_ = os.Symlink("target"+fmt.Sprint(rnd.IntN(3)), path)
		}
		markParents(name, pending)
	default:
		writeSafely(r, name, strings.Repeat(fmt.Sprint(rnd.IntN(5)), rnd.IntN(200)))
		markParents(name, pending)
	}
}

func removeAll(t testing.TB, path string) {
	if err := os.RemoveAll(path); err != nil && !errors.Is(err, syscall.ENOTDIR) {
		t.Fatal(err)
	}
}

func markParents(name string, pending map[string]bool) {
	for d := filepath.Dir(name); d != "."; d = filepath.Dir(d) {
		pending[d] = true
	}
}

// writeSafely writes a file unless a file or link stands where a folder is needed, or the other way round.
func writeSafely(r *rig, name, text string) {
	path := filepath.Join(r.local, name)
	for d := filepath.Dir(path); d != r.local; d = filepath.Dir(d) {
		if info, err := os.Lstat(d); err == nil && !info.IsDir() {
			check(r, os.Remove(d))
		}
	}
	check(r, os.MkdirAll(filepath.Dir(path), 0o755))
	removeAll(r, path)
	check(r, os.WriteFile(path, []byte(text), 0o644))
}

// converge applies the pending changes until that succeeds.
func converge(r *rig, pending map[string]bool) {
	r.Helper()
	for range 20 {
		if r.Conversation == nil {
			r.end()
			r.connect(-1)
		}
		var b Batch
		for n := range pending {
			info, err := os.Lstat(filepath.Join(r.local, n))
			switch {
			case err != nil:
				b.Deletes = append(b.Deletes, filepath.Join(r.remote, n))
			case info.IsDir():
				p := r.put(n)
				p.IsDir = true
				b.Puts = append(b.Puts, p)
			default:
				b.Puts = append(b.Puts, r.put(n))
			}
		}
		_, err := r.Apply(r.Context(), b)
		if err == nil {
			clear(pending)
			return
		}
		var f *FaultError
		if errors.As(err, &f) {
			r.Fatal(err)
		}
		r.end()
		r.connect(-1)
	}
	r.Fatal("it never succeeds")
}
