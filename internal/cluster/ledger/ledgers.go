package ledger

import (
	"context"
	"sync"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// Ledgers are the ledgers in one storage, which is opened when it is first needed. They are safe for concurrent use.
type Ledgers struct {
	open    func(context.Context) (storage.Storage, error)
	options Options

	mu      sync.Mutex
	storage storage.Storage // guarded by mu; nil until it is open
}

// In returns the ledgers in the storage that open opens. An open that fails is tried again at the next use.
func In(open func(context.Context) (storage.Storage, error), o Options) *Ledgers {
	return &Ledgers{open: open, options: o}
}

// Open opens the ledger of key. origin, unless nil, describes the operation that makes changes.
func (s *Ledgers) Open(ctx context.Context, key Key, origin func() Origin) (*Ledger, error) {
	in, err := s.Storage(ctx)
	if err != nil {
		return nil, err
	}
	o := s.options
	o.Origin = origin
	return Open(in, key, o)
}

// Storage opens the storage, or returns the open one.
func (s *Ledgers) Storage(ctx context.Context) (storage.Storage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.storage != nil {
		return s.storage, nil
	}
	in, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	s.storage = in
	return in, nil
}

// Close closes the storage if it is open.
func (s *Ledgers) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.storage == nil {
		return nil
	}
	err := s.storage.Close()
	s.storage = nil
	return err
}
