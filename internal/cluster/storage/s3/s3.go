// Package s3 is a storage in a bucket of an S3-compatible object store. Each version of a document is an object, which is created
// and never overwritten, so that the store needs no other condition than If-None-Match: *.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// patience is how often a contradictory answer is asked for again: another writer is at work, or the store's listing lags.
const patience = 6

// cleanEvery is the number of versions of a document after which old ones are looked for.
const cleanEvery = 16

// Storage keeps documents in a bucket. The version of a document is its number. To delete a document creates an empty object with the
// next number, so that numbers never come back.
type Storage struct{ store *store }

// New returns the storage at a URL: s3://BUCKET/PREFIX, with the parameters endpoint, region and path-style. It sends nothing yet.
func New(rawURL string) (*Storage, error) {
	s, err := newStore(rawURL)
	if err != nil {
		return nil, err
	}
	return &Storage{s}, nil
}

// Load implements storage.Storage.
func (s *Storage) Load(ctx context.Context, name string) (storage.Document, error) {
	if err := storage.CheckName(name); err != nil {
		return storage.Document{}, err
	}
	var doc storage.Document
	err := s.settle(ctx, name, func() (bool, error) {
		number, err := s.newest(ctx, name)
		if err != nil {
			return true, err
		}
		data, err := s.store.get(ctx, key(name, number))
		if errors.Is(err, errNoObject) {
			return false, nil // removed since, because newer versions were old enough
		}
		doc = storage.Document{Data: data, Version: version(number)}
		return true, err
	})
	return doc, err
}

// Save implements storage.Storage.
func (s *Storage) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	if err := storage.CheckName(name); err != nil {
		return storage.None, err
	}
	number, err := s.before(ctx, name, was)
	if err != nil {
		return storage.None, err
	}
	if err := s.succeed(ctx, name, number, framed(data)); err != nil {
		return storage.None, err
	}
	number++
	if number%cleanEvery == 0 {
		s.clean(ctx, name)
	}
	return version(number), nil
}

// Delete implements storage.Storage.
func (s *Storage) Delete(ctx context.Context, name string, was storage.Version) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	number, err := numberOf(was)
	if err == nil {
		err = s.succeed(ctx, name, number, nil)
	}
	if !errors.Is(err, storage.ErrStale) {
		return err
	}
	if _, missing := s.Load(ctx, name); errors.Is(missing, storage.ErrMissing) {
		return nil
	}
	return err
}

// String implements storage.Storage.
func (s *Storage) String() string { return s.store.String() }

// Close implements storage.Storage.
func (s *Storage) Close() error {
	s.store.client.Close()
	return nil
}

// before returns the number that a write with version was follows.
func (s *Storage) before(ctx context.Context, name string, was storage.Version) (int64, error) {
	if was != storage.None {
		return numberOf(was)
	}
	var last object
	err := s.settle(ctx, name, func() (done bool, err error) {
		last, done, err = s.last(ctx, name)
		return done, err
	})
	if err != nil {
		return 0, err
	}
	if last.exists() {
		return 0, storage.ErrStale
	}
	return last.number, nil
}

// succeed creates the object that follows a number.
func (s *Storage) succeed(ctx context.Context, name string, number int64, body []byte) error {
	next := key(name, number+1)
	if err := s.create(ctx, next, body); err != nil {
		return err
	}
	// The object is new, or its place was free again because old versions are removed, the oldest first. Then its predecessor was
	// removed, too.
	err := s.foundation(ctx, name, number)
	if !errors.Is(err, errNoObject) {
		return err
	}
	if err := s.store.remove(ctx, next); err != nil {
		return err
	}
	return storage.ErrStale
}

// foundation returns errNoObject if the version that a new one follows is not there.
func (s *Storage) foundation(ctx context.Context, name string, number int64) error {
	if number > 0 {
		return s.store.head(ctx, key(name, number))
	}
	objects, _, err := s.store.list(ctx, keyPrefix(name), "", 2)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(objects, func(o object) bool { return o.number == 1 }) {
		return fmt.Errorf("%s/%s: other writers have replaced the document already, maybe this version of it", s, name)
	}
	return nil
}

// create creates an object; ErrStale if it exists.
func (s *Storage) create(ctx context.Context, key string, body []byte) error {
	stale := false
	err := s.settle(ctx, key, func() (bool, error) {
		answer, err := s.store.create(ctx, key, body)
		switch {
		case err != nil:
			return true, err
		case answer.Status == http.StatusConflict:
			return false, nil // the store has a write of the same object under way
		case answer.Status == http.StatusPreconditionFailed && answer.Repeated:
			return true, fmt.Errorf("%s/%s exists, maybe from this request, whose answer was lost", s, key)
		}
		stale = answer.Status == http.StatusPreconditionFailed
		return true, nil
	})
	if err == nil && stale {
		return storage.ErrStale
	}
	return err
}

// newest returns the number of a document's newest version, or ErrMissing.
func (s *Storage) newest(ctx context.Context, name string) (number int64, err error) {
	var last object
	err = s.settle(ctx, name, func() (done bool, err error) {
		last, done, err = s.last(ctx, name)
		return done, err
	})
	if err == nil && !last.exists() {
		err = storage.ErrMissing
	}
	return last.number, err
}

// last returns the newest object of a document, the zero object if there is none. ok is false if the listing has a gap, since the two
// newest versions are never removed.
func (s *Storage) last(ctx context.Context, name string) (last object, ok bool, err error) {
	objects, _, err := s.store.list(ctx, keyPrefix(name), "", 2)
	if err != nil || len(objects) == 0 {
		return object{}, true, err
	}
	last = objects[0]
	return last, !last.exists() || len(objects) < 2 || objects[1].number == last.number-1, nil
}

// settle repeats a step until its answers agree.
func (s *Storage) settle(ctx context.Context, name string, step func() (done bool, err error)) error {
	pause := retry.Backoff{First: time.Second / 50, Most: time.Second, Jitter: 0.5}
	for range patience {
		done, err := step()
		if done || err != nil {
			return err
		}
		if !pause.Sleep(ctx) {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("%s/%s: the object store gives contradictory answers", s, name)
}

func version(number int64) storage.Version { return storage.Version(strconv.FormatInt(number, 10)) }

// numberOf returns the number of a version. A version that this storage does not make is stale.
func numberOf(v storage.Version) (int64, error) {
	number, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || number < 1 || number >= maxNumber {
		return 0, storage.ErrStale
	}
	return number, nil
}
