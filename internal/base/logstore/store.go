package logstore

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// The default bounds of Options.
const (
	DefaultMemoryPerResource = 1 << 20
	DefaultDiskPerResource   = 64 << 20
	DefaultMemoryTotal       = 64 << 20
)

const (
	// maxSegment is the size in bytes at which a segment is sealed, unless a resource's bound is small. A page of a thousand
	// resources unpacks one segment for each of its lines.
	maxSegment = 32 << 10
	// firstSegment is the initial capacity of a resource's first segment; most resources write little.
	firstSegment = 2 << 10
	// backlogFactor times the memory bound is the size at which a writer has to wait for the keeper.
	backlogFactor = 4
)

// Options bound a store.
type Options struct {
	// Dir is the folder for lines that do not fit in memory. The store uses a new folder below it, which Close removes.
	// Close also removes Dir if New created it and it is empty. Without Dir nothing is spilled: the oldest lines beyond
	// the memory bound are dropped.
	Dir string
	// MemoryPerResource bounds, in bytes, the text that one resource keeps in memory; 0 means 1 MiB. A resource may
	// temporarily use a few times as much, until the keeper has spilled it.
	MemoryPerResource int64
	// DiskPerResource bounds the compressed size on disk of one resource's older lines; 0 means 64 MiB.
	DiskPerResource int64
	// MemoryTotal bounds the text in memory of all resources together; 0 means 64 MiB. Beyond it the resources that use
	// most are spilled first. It has no effect without Dir.
	MemoryTotal int64
	// Secrets are replaced in all lines; see SetSecrets.
	Secrets []model.Secret
	// OnSecrets is called with the secrets before the store replaces them in lines; nil for nothing.
	OnSecrets func([]model.Secret)
	// Now is the clock for lines without a time; nil means time.Now.
	Now func() time.Time
}

// Store keeps lines of all resources.
type Store struct {
	memoryLimit, diskLimit, totalLimit int64
	segmentSize                        int

	now       func() time.Time
	onSecrets func([]model.Secret)
	scrub     atomic.Pointer[scrubber]
	spill     *spillDir // nil without Options.Dir
	keeper    *keeper
	cache     viewCache
	// numbers are the line numbers of segments on disk.
	numbers numberCache

	mu        sync.Mutex
	room      sync.Cond // of mu: signals that a resource's memory shrank, or the store was closed
	closed    bool
	seq       uint64 // of the newest line
	memory    int64
	resources map[model.ManifestName]*resource
	readers   []chan struct{}
	drops     uint64
	trouble   bool // a spill failed and was reported
}

// New returns an empty store. It fails if the folder for spilled lines cannot be created.
func New(o Options) (*Store, error) {
	s := &Store{
		memoryLimit: orDefault(o.MemoryPerResource, DefaultMemoryPerResource),
		diskLimit:   orDefault(o.DiskPerResource, DefaultDiskPerResource),
		totalLimit:  orDefault(o.MemoryTotal, DefaultMemoryTotal),
		now:         o.Now,
		onSecrets:   o.OnSecrets,
		resources:   map[model.ManifestName]*resource{},
	}
	s.segmentSize = int(min(maxSegment, max(s.memoryLimit/4, 1<<10)))
	s.room.L = &s.mu
	if s.now == nil {
		s.now = time.Now
	}
	if s.onSecrets == nil {
		s.onSecrets = func([]model.Secret) {}
	}
	if o.Dir != "" {
		var err error
		if s.spill, err = newSpillDir(o.Dir); err != nil {
			return nil, fmt.Errorf("open log store: %w", err)
		}
	}
	s.SetSecrets(o.Secrets)
	s.keeper = newKeeper(s)
	return s, nil
}

func orDefault(v, def int64) int64 {
	if v <= 0 {
		return def
	}
	return v
}

// Close stores unfinished lines, stops the keeper, waits for it, and removes the spilled segments. Lines in memory can
// still be read; later writes are ignored. Calling Close again does nothing.
func (s *Store) Close() error {
	s.keeper.flushAll()
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.room.Broadcast()
	s.mu.Unlock()
	if was {
		return nil
	}
	s.keeper.stop()
	if s.spill == nil {
		return nil
	}
	if err := s.spill.remove(); err != nil {
		return fmt.Errorf("close log store: %w", err)
	}
	return nil
}

// Flush stores unfinished lines, so that readers get everything that was written so far.
func (s *Store) Flush() { s.keeper.flushAll() }

// SetSecrets replaces the set of values that lines must not show, apart from the passwords in URLs, which they never show. A value of at
// least five bytes is replaced by "[redacted secret name:key]", also in its base64 and JSON-escaped forms. In a value of several lines,
// each line of at least twelve bytes is replaced. Lines that are already stored do not change.
func (s *Store) SetSecrets(secrets []model.Secret) {
	s.onSecrets(secrets)
	s.scrub.Store(newScrubber(secrets))
}

// Scrub returns a text of one or more lines without the secrets that are known now and without passwords in URLs, for texts that leave
// the store.
func (s *Store) Scrub(text string) string { return s.scrub.Load().line(text) }

// Subscribe returns a channel with one slot that is filled when lines are stored or dropped, and a function that ends
// the subscription. The channel is never closed.
func (s *Store) Subscribe() (changed <-chan struct{}, cancel func()) {
	ch := make(chan struct{}, 1)
	s.mu.Lock()
	s.readers = append(s.readers, ch)
	s.mu.Unlock()
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.readers = slices.DeleteFunc(s.readers, func(c chan struct{}) bool { return c == ch })
	}
}

// notifyLocked wakes every subscriber.
func (s *Store) notifyLocked() {
	for _, ch := range s.readers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// append stores entries in order. With wait it waits while a resource is too far ahead of the keeper; the keeper itself
// must not wait.
func (s *Store) append(batch []Entry, wait bool) {
	if len(batch) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch {
		e := &batch[i]
		r := s.resourceLocked(e.Resource)
		for wait && s.backlogLocked(r) {
			s.room.Wait()
			r = s.resourceLocked(e.Resource)
		}
		if s.closed {
			return
		}
		s.seq++
		s.addLocked(r, e)
	}
	s.notifyLocked()
}

// backlogLocked reports whether a resource has so much in memory that the keeper has to write some of it to disk first.
func (s *Store) backlogLocked(r *resource) bool {
	return s.spill != nil && !s.closed && r.memory > s.memoryLimit*backlogFactor
}

func (s *Store) resourceLocked(name model.ManifestName) *resource {
	r := s.resources[name]
	if r == nil {
		r = &resource{name: name, spans: map[string]*spanRange{}}
		s.resources[name] = r
	}
	return r
}

// addLocked puts one line into the resource's open segment.
func (s *Store) addLocked(r *resource, e *Entry) {
	grown := r.add(s.seq, s.segmentSize, e)
	r.memory += grown
	s.memory += grown
	if s.spill == nil {
		for r.memory > s.memoryLimit && len(r.segs) > 1 {
			s.dropLocked(r, 1)
		}
		return
	}
	if grown > 0 && (r.memory > s.memoryLimit || s.memory > s.totalLimit) {
		s.keeper.poke()
	}
}

// dropLocked drops the oldest n segments of a resource and counts their lines.
func (s *Store) dropLocked(r *resource, n int) {
	s.drops++
	freed := r.drop(n)
	r.memory -= freed
	s.memory -= freed
}

// Drop removes all lines of a resource. Lines that its loggers write later are stored as usual.
func (s *Store) Drop(name model.ManifestName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.resources[name]
	if r == nil {
		return
	}
	delete(s.resources, name)
	r.gone = true
	s.drops++
	s.memory -= r.memory
	s.keeper.discard(r.files)
	s.room.Broadcast()
	s.notifyLocked()
}

// Drops returns a number that rises whenever stored lines are dropped, for whatever reason.
func (s *Store) Drops() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drops
}

// Dropped returns the number of lines that the bounds pushed out, of the filter's resources, sources and levels. Lines
// that Drop removed do not count.
func (s *Store) Dropped(f Filter) uint64 {
	m := f.mask()
	s.mu.Lock()
	defer s.mu.Unlock()
	var n uint64
	for _, r := range s.chosenLocked(f) {
		n += r.dropped.of(m)
	}
	return n
}

// chosenLocked returns the resources that a filter selects, in no particular order.
func (s *Store) chosenLocked(f Filter) []*resource {
	if f.Resources == nil {
		all := make([]*resource, 0, len(s.resources))
		for _, r := range s.resources {
			all = append(all, r)
		}
		return all
	}
	var chosen []*resource
	for i, name := range f.Resources {
		if r := s.resources[name]; r != nil && !slices.Contains(f.Resources[:i], name) {
			chosen = append(chosen, r)
		}
	}
	return chosen
}
