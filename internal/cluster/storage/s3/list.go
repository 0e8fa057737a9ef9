package s3

import (
	"context"
	"slices"
	"time"
)

// keep is how long a version is kept after the next one was written, for readers that have just looked for the newest.
const keep = time.Hour

// most is the largest number of objects that one call removes.
const most = 100

// List implements storage.Storage. It also removes old versions.
func (s *Storage) List(ctx context.Context, prefix string) ([]string, error) {
	objects, now, err := s.all(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var names []string
	var old []object
	for len(objects) > 0 {
		n := slices.IndexFunc(objects, func(o object) bool { return o.name != objects[0].name })
		if n < 0 {
			n = len(objects)
		}
		if objects[0].exists() {
			names = append(names, objects[0].name)
		}
		old = append(old, outdated(objects[:n], now)...)
		objects = objects[n:]
	}
	slices.Sort(names)
	s.remove(ctx, old)
	return names, nil
}

// all lists the objects of all documents with a prefix, and returns the store's time.
func (s *Storage) all(ctx context.Context, prefix string) (all []object, now time.Time, err error) {
	after := ""
	for {
		objects, page, err := s.store.list(ctx, prefix, after, 0)
		if err != nil {
			return nil, now, err
		}
		all = append(all, objects...)
		if page.next == "" {
			return all, page.date, nil
		}
		after = page.next
	}
}

// clean removes old versions of a document.
func (s *Storage) clean(ctx context.Context, name string) {
	if objects, page, err := s.store.list(ctx, keyPrefix(name), "", 0); err == nil {
		s.remove(ctx, outdated(objects, page.date))
	}
}

// outdated returns the objects of one document, in the order of the listing, that may be removed, the oldest first. It never returns the
// newest two; of a deleted document only the last object stays. All times are the store's: this machine's clock may be wrong.
func outdated(objects []object, now time.Time) []object {
	stay := 2
	if len(objects) > 0 && !objects[0].exists() {
		stay = 1
	}
	var old []object
	for i := len(objects) - 1; i >= stay; i-- {
		if now.Sub(objects[i-1].modified) < keep {
			break // what is newer stays, too, even if the clock was set back
		}
		old = append(old, objects[i])
	}
	return old
}

// remove removes objects in their order. What fails now is removed later.
func (s *Storage) remove(ctx context.Context, old []object) {
	for _, o := range old[:min(len(old), most)] {
		if s.store.remove(ctx, key(o.name, o.number)) != nil {
			return
		}
	}
}
