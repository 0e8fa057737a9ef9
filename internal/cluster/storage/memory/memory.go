// Package memory is a storage that lives as long as its process.
package memory

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// Storage keeps documents in memory.
type Storage struct {
	mu   sync.Mutex
	last int                         // the newest version number; guarded by mu
	docs map[string]storage.Document // guarded by mu
}

// New returns an empty storage.
func New() *Storage { return &Storage{docs: map[string]storage.Document{}} }

// Load implements storage.Storage.
func (s *Storage) Load(ctx context.Context, name string) (storage.Document, error) {
	if err := begin(ctx, name); err != nil {
		return storage.Document{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	doc, ok := s.docs[name]
	if !ok {
		return storage.Document{}, storage.ErrMissing
	}
	doc.Data = bytes.Clone(doc.Data)
	return doc, nil
}

// Save implements storage.Storage.
func (s *Storage) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	if err := begin(ctx, name); err != nil {
		return storage.None, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs[name].Version != was {
		return storage.None, storage.ErrStale
	}
	s.last++
	is := storage.Version(strconv.Itoa(s.last))
	s.docs[name] = storage.Document{Data: bytes.Clone(data), Version: is}
	return is, nil
}

// Delete implements storage.Storage.
func (s *Storage) Delete(ctx context.Context, name string, was storage.Version) error {
	if err := begin(ctx, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	doc, ok := s.docs[name]
	if !ok {
		return nil
	}
	if doc.Version != was {
		return storage.ErrStale
	}
	delete(s.docs, name)
	return nil
}

// List implements storage.Storage.
func (s *Storage) List(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.docs))
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) }), nil
}

// String implements storage.Storage.
func (s *Storage) String() string { return "memory://" }

// Close implements storage.Storage.
func (s *Storage) Close() error { return nil }

func begin(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return storage.CheckName(name)
}
