package storagetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// ErrInjected is the error of an injected fault.
var ErrInjected = errors.New("injected fault")

// fault is the fate of one operation.
type fault int

const (
	none fault = iota
	// before fails without having done anything.
	before
	// lost does the operation and loses its result.
	lost
	// delay does the operation late.
	delay
)

// fates are as likely as they are listed.
var fates = []fault{none, none, none, none, before, lost, delay}

// Faulty is a storage whose operations fail by a plan that a seed makes.
type Faulty struct {
	storage.Storage

	mu   sync.Mutex
	rand *rand.Rand // guarded by mu
}

// NewFaulty returns a storage that injects faults into another one.
func NewFaulty(s storage.Storage, seed uint64) *Faulty {
	return &Faulty{Storage: s, rand: rand.New(rand.NewPCG(seed, 0))}
}

// around does an operation with a fault.
func (f *Faulty) around(ctx context.Context, do func() error) error {
	f.mu.Lock()
	fate, late := fates[f.rand.IntN(len(fates))], time.Duration(f.rand.Int64N(int64(3*time.Millisecond)))
	f.mu.Unlock()
	switch fate {
	case before:
		return ErrInjected
	case delay:
		retry.Sleep(ctx, late)
	case lost:
		_ = do()
		return ErrInjected
	case none:
	}
	return do()
}

// Load implements storage.Storage.
func (f *Faulty) Load(ctx context.Context, name string) (doc storage.Document, err error) {
	err = f.around(ctx, func() error {
		doc, err = f.Storage.Load(ctx, name)
		return err
	})
	if err != nil {
		return storage.Document{}, err
	}
	return doc, nil
}

// Save implements storage.Storage.
func (f *Faulty) Save(ctx context.Context, name string, data []byte, was storage.Version) (is storage.Version, err error) {
	err = f.around(ctx, func() error {
		is, err = f.Storage.Save(ctx, name, data, was)
		return err
	})
	if err != nil {
		return storage.None, err
	}
	return is, nil
}

// Delete implements storage.Storage.
func (f *Faulty) Delete(ctx context.Context, name string, was storage.Version) error {
	return f.around(ctx, func() error { return f.Storage.Delete(ctx, name, was) })
}

// List implements storage.Storage.
func (f *Faulty) List(ctx context.Context, prefix string) (names []string, err error) {
	err = f.around(ctx, func() error {
		names, err = f.Storage.List(ctx, prefix)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}
