//go:build linux

package synclet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestManyFiles sends so many files that the first ones travel while the others are being read: the container's files and the
// report are the same as with few files.
func TestManyFiles(t *testing.T) {
	const n = 2 * streamFrom
	r := newRig(t)
	names := func(from, to int) (out []string) {
		for i := from; i < to; i++ {
			out = append(out, fmt.Sprintf("d%d/f%d", i%10, i))
		}
		return out
	}
	for _, name := range names(0, n) {
		r.write(name, name)
	}
	if rep := r.apply(names(0, 100)...); rep.Files != 100 || rep.Same != 0 {
		t.Errorf("the first 100: %+v", rep)
	}
	all := append(names(0, n), "gone")
	bytes := 0
	for _, name := range names(100, n) {
		bytes += len(name)
	}
	r.write("here", "before")
	r.apply("here")
	b := r.batch(all...)
	b.Deletes = append(b.Deletes, filepath.Join(r.remote, "here"))
	rep, err := r.Apply(t.Context(), b)
	if check(t, err); rep.Files != n-100 || rep.Same != 100 || rep.Deletes != 2 || rep.Bytes != int64(bytes) || rep.Sent.IsZero() || rep.Answered.Before(rep.Sent) {
		t.Errorf("all: %+v; %d bytes", rep, bytes)
	}
	want := tree(t, r.local)
	delete(want, "here")
	if d := cmp.Diff(want, tree(t, r.remote)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if rep := r.apply(all...); rep.Files != 0 || rep.Same != n+1 || !rep.Sent.IsZero() {
		t.Errorf("again: %+v", rep)
	}
}

// TestManyFilesOfWhichOneFails cannot read one of many files when the first ones have been sent: nothing is changed.
func TestManyFilesOfWhichOneFails(t *testing.T) {
	const n = 2 * streamFrom
	r := newRig(t)
	b := Batch{}
	for i := range n {
		name := fmt.Sprint("f", i)
		r.write(name, name)
		b.Puts = append(b.Puts, r.put(name))
	}
	bad := b
	bad.Puts = append(append([]Put(nil), b.Puts...), Put{Local: filepath.Join(r.local, strings.Repeat("x", 300)), Remote: filepath.Join(r.remote, "x")})
	if _, err := r.Apply(t.Context(), bad); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("the error: %v", err)
	}
	if left := tree(t, r.remote); len(left) > 1 {
		t.Errorf("%d entries were made", len(left))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Apply(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if rep, err := r.Apply(t.Context(), b); err != nil || rep.Files != n {
		t.Errorf("afterwards: %+v, %v", rep, err)
	}
	if d := cmp.Diff(tree(t, r.local), tree(t, r.remote)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
