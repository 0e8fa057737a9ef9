package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// Revisions lets writers share a history: each creates numbered documents, and goes on with the next number where another writer was
// first. Afterwards every number is there once, and every entry of every writer, in its order. The storages may inject faults; reader
// must not.
func Revisions(t *testing.T, reader storage.Storage, each int, writers ...storage.Storage) {
	t.Helper()
	history := prefix(t) + "revisions/"
	var wg sync.WaitGroup
	for w, s := range writers {
		wg.Go(func() {
			next := 1
			for i := range each {
				at, err := addRevision(t.Context(), s, history, next, fmt.Sprintf("%d %d\n", w, i))
				if err != nil {
					t.Errorf("writer %d, revision %d: %v", w, i, err)
					return
				}
				next = at + 1
			}
		})
	}
	wg.Wait()
	names, err := reader.List(t.Context(), history)
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for i, name := range names {
		if want := revision(history, i+1); name != want {
			t.Fatalf("revision %d is %s, want %s", i+1, name, want)
		}
		doc, err := reader.Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc.Data...)
	}
	Complete(t, all, len(writers), each)
}

func revision(history string, number int) string { return fmt.Sprintf("%s%08d", history, number) }

// addRevision creates a document with the first free number from next on, and returns the number. entry is written by no other writer.
func addRevision(ctx context.Context, s storage.Storage, history string, next int, entry string) (int, error) {
	for ctx.Err() == nil {
		name := revision(history, next)
		_, err := s.Save(ctx, name, []byte(entry), storage.None)
		if err == nil {
			return next, nil
		}
		doc, err := s.Load(ctx, name)
		switch {
		case err == nil && string(doc.Data) == entry:
			return next, nil // the answer was lost
		case err == nil:
			next++
		case errors.Is(err, storage.ErrMissing): // nothing was written
		}
	}
	return 0, ctx.Err()
}
