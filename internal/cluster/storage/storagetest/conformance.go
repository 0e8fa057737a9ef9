// Package storagetest has the tests that every storage passes, and a storage that injects faults.
package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// Conformance runs the tests of a storage. open returns a handle of one storage, which is empty at first: each call is another
// process that shares it.
func Conformance(t *testing.T, open func(t *testing.T) storage.Storage) {
	t.Run("a document", func(t *testing.T) { document(t, open(t)) })
	t.Run("stale writes", func(t *testing.T) { staleWrites(t, open(t), open(t)) })
	t.Run("made again", func(t *testing.T) { madeAgain(t, open(t), open(t)) })
	t.Run("sizes", func(t *testing.T) { sizes(t, open(t)) })
	t.Run("names", func(t *testing.T) { someNames(t, open(t)) })
	t.Run("two writers", func(t *testing.T) { writers(t, open(t), open(t)) })
	t.Run("revisions", func(t *testing.T) { Revisions(t, open(t), 100, open(t), open(t)) })
	t.Run("faults", func(t *testing.T) { faults(t, open(t), open(t)) })
	t.Run("fit", func(t *testing.T) { fit(t, open(t)) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, open(t)) })
}

// prefix keeps the documents of a test apart.
func prefix(t *testing.T) string {
	return fmt.Sprintf("conformance-%x/", []byte(t.Name())[max(0, len(t.Name())-12):])
}

func load(t *testing.T, s storage.Storage, name, want string) storage.Version {
	t.Helper()
	doc, err := s.Load(t.Context(), name)
	if err != nil || string(doc.Data) != want {
		t.Fatalf("Load(%s) = %.80q, %v; want %.80q", name, doc.Data, err, want)
	}
	return doc.Version
}

func save(t *testing.T, s storage.Storage, name, data string, was storage.Version) storage.Version {
	t.Helper()
	is, err := s.Save(t.Context(), name, []byte(data), was)
	if err != nil || is == storage.None {
		t.Fatalf("Save(%s, was %q) = %q, %v", name, was, is, err)
	}
	return is
}

func document(t *testing.T, s storage.Storage) {
	name := prefix(t) + "a"
	if _, err := s.Load(t.Context(), name); !errors.Is(err, storage.ErrMissing) {
		t.Fatalf("Load of no document: %v", err)
	}
	v := save(t, s, name, "one", storage.None)
	if is := load(t, s, name, "one"); is != v {
		t.Fatalf("Load returns version %q after Save returned %q", is, v)
	}
	v = save(t, s, name, "two", v)
	v = save(t, s, name, "two", v) // the same data may keep its version
	load(t, s, name, "two")
	if err := s.Delete(t.Context(), name, v); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), name, v); err != nil {
		t.Fatalf("Delete of no document: %v", err)
	}
	if _, err := s.Load(t.Context(), name); !errors.Is(err, storage.ErrMissing) {
		t.Fatalf("Load after Delete: %v", err)
	}
}

func stale(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, storage.ErrStale) {
		t.Fatalf("%s: %v, want %v", what, err, storage.ErrStale)
	}
}

func staleWrites(t *testing.T, a, b storage.Storage) {
	name := prefix(t) + "a"
	first := save(t, a, name, "one", storage.None)
	_, err := b.Save(t.Context(), name, []byte("other"), storage.None)
	stale(t, "creating what exists", err)
	second := save(t, b, name, "two", first)
	_, err = a.Save(t.Context(), name, []byte("three"), first)
	stale(t, "saving over a newer version", err)
	stale(t, "deleting a newer version", a.Delete(t.Context(), name, first))
	load(t, a, name, "two")
	if err := a.Delete(t.Context(), name, second); err != nil {
		t.Fatal(err)
	}
	_, err = b.Save(t.Context(), name, []byte("three"), second)
	stale(t, "saving over a deleted document", err)
}

func madeAgain(t *testing.T, a, b storage.Storage) {
	name := prefix(t) + "a"
	first := save(t, a, name, "one", storage.None)
	if err := a.Delete(t.Context(), name, first); err != nil {
		t.Fatal(err)
	}
	save(t, b, name, "another", storage.None)
	_, err := a.Save(t.Context(), name, []byte("mine"), first)
	stale(t, "saving over a document that was made again", err)
	load(t, a, name, "another")
}

func sizes(t *testing.T, s storage.Storage) {
	for _, size := range []int{0, 1, 4 << 10, 1 << 20, 3 << 20} {
		name := prefix(t) + strconv.Itoa(size)
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * 7 >> 3) // no text, and it compresses badly
		}
		v := save(t, s, name, string(data), storage.None)
		load(t, s, name, string(data))
		v = save(t, s, name, "small again", v)
		load(t, s, name, "small again")
		if err := s.Delete(t.Context(), name, v); err != nil {
			t.Fatal(err)
		}
	}
}

func someNames(t *testing.T, s storage.Storage) {
	p := prefix(t)
	want := []string{p + "A.json", p + "a.json", p + "a.revisions/00000001", p + "a.revisions/00000002", p + "b_c-d"}
	for _, name := range want {
		save(t, s, name, name, storage.None)
	}
	for prefix, want := range map[string][]string{p: want, p + "a.": want[1:4], p + "a.revisions/": want[2:4], p + "none": nil} {
		got, err := s.List(t.Context(), prefix)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("List(%s) = %q, %v; want %q", prefix, got, err, want)
		}
	}
	for _, name := range want {
		load(t, s, name, name)
	}
	for _, name := range []string{"", "/", "/a", "a/", "a//b", "../a", "a/../b", "a/.b", "a b", "a\x00", "ä", string(bytes.Repeat([]byte("a"), 201))} {
		if _, err := s.Save(t.Context(), name, nil, storage.None); err == nil || errors.Is(err, storage.ErrStale) {
			t.Errorf("Save accepts the name %q: %v", name, err)
		}
		if _, err := s.Load(t.Context(), name); err == nil || errors.Is(err, storage.ErrMissing) {
			t.Errorf("Load accepts the name %q: %v", name, err)
		}
	}
}

// faults lets two writers share a history while their operations fail and their answers get lost.
func faults(t *testing.T, a, b storage.Storage) {
	const seed = 40
	Revisions(t, a, 30, NewFaulty(a, seed), NewFaulty(b, seed+1))
}

// fit holds that Check accepts the storage, and leaves nothing behind.
func fit(t *testing.T, s storage.Storage) {
	if err := storage.Check(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if left, err := s.List(t.Context(), "check-"); err != nil || len(left) > 0 {
		t.Errorf("Check left %q, %v", left, err)
	}
}

// writers lets two writers add lines to one document, 100 each. No line may be lost or doubled, and each one's lines keep their order.
func writers(t *testing.T, stores ...storage.Storage) {
	name := prefix(t) + "a"
	const lines = 100
	var wg sync.WaitGroup
	for w, s := range stores {
		wg.Go(func() {
			for i := range lines {
				if err := Append(t.Context(), s, name, fmt.Sprintf("%d %d\n", w, i)); err != nil {
					t.Errorf("writer %d, line %d: %v", w, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	doc, err := stores[0].Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	Complete(t, doc.Data, len(stores), lines)
}

// Append adds a line that no other writer writes to a document. It repeats lost races, and after other errors finds out whether the
// line was written.
func Append(ctx context.Context, s storage.Storage, name, line string) error {
	for {
		doc, err := s.Load(ctx, name)
		if err != nil && !errors.Is(err, storage.ErrMissing) {
			if ctx.Err() != nil {
				return err
			}
			continue
		}
		if bytes.Contains(append([]byte("\n"), doc.Data...), []byte("\n"+line)) {
			return nil
		}
		if _, err = s.Save(ctx, name, slices.Concat(doc.Data, []byte(line)), doc.Version); ctx.Err() != nil {
			return err
		}
	}
}

// Complete checks that data has the lines "WRITER NUMBER" of all writers, each once, and each writer's in order.
func Complete(t *testing.T, data []byte, writers, lines int) {
	t.Helper()
	next := make([]int, writers)
	for line := range bytes.Lines(data) {
		var w, i int
		if _, err := fmt.Sscanf(string(line), "%d %d\n", &w, &i); err != nil || w >= writers {
			t.Fatalf("line %q: %v", line, err)
		}
		if i != next[w] {
			t.Fatalf("writer %d: line %d follows line %d", w, i, next[w]-1)
		}
		next[w]++
	}
	for w, n := range next {
		if n != lines {
			t.Errorf("writer %d: %d lines are left of %d", w, n, lines)
		}
	}
}

func cancelled(t *testing.T, s storage.Storage) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx, prefix(t)+"a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Load: %v", err)
	}
	if _, err := s.Save(ctx, prefix(t)+"a", nil, storage.None); !errors.Is(err, context.Canceled) {
		t.Errorf("Save: %v", err)
	}
}
