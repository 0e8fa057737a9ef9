package web

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// index is the document with the names of all others, one a line, since HTTP has no request for them. A name is added before its
// document is created, and removed after it is deleted: after a crash, a name may be left over, but no document is hidden.
const index = "documents.index"

// List implements storage.Storage.
func (s *Storage) List(ctx context.Context, prefix string) ([]string, error) {
	names, _, err := s.names(ctx)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) }), err
}

// names returns the sorted names in the index, and the version of the index.
func (s *Storage) names(ctx context.Context) ([]string, storage.Version, error) {
	doc, err := s.load(ctx, index)
	if err != nil && !errors.Is(err, storage.ErrMissing) {
		return nil, storage.None, err
	}
	var names []string
	for line := range bytes.Lines(doc.Data) {
		names = append(names, string(bytes.TrimSpace(line)))
	}
	return names, doc.Version, nil
}

// listed adds a name to the index.
func (s *Storage) listed(ctx context.Context, name string) error {
	return s.edit(ctx, func(names []string) ([]string, error) {
		i, found := slices.BinarySearch(names, name)
		if found {
			return nil, nil
		}
		return slices.Insert(names, i, name), nil
	})
}

// unlisted removes the name of a document that is gone. If another writer creates the document again meanwhile, the name stays.
func (s *Storage) unlisted(ctx context.Context, name string) error {
	return s.edit(ctx, func(names []string) ([]string, error) {
		i, found := slices.BinarySearch(names, name)
		if !found {
			return nil, nil
		}
		if _, err := s.load(ctx, name); !errors.Is(err, storage.ErrMissing) {
			return nil, err
		}
		return slices.Delete(names, i, i+1), nil
	})
}

// edit changes the index until no other writer interferes. change returns nil if nothing is to be done.
func (s *Storage) edit(ctx context.Context, change func([]string) ([]string, error)) error {
	for {
		names, was, err := s.names(ctx)
		if err != nil {
			return err
		}
		names, err = change(names)
		if err != nil || names == nil {
			return err
		}
		data := ""
		if len(names) > 0 {
			data = strings.Join(names, "\n") + "\n"
		}
		if _, err = s.save(ctx, index, []byte(data), was); !errors.Is(err, storage.ErrStale) {
			return err
		}
	}
}
