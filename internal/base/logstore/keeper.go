package logstore

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// settleEvery is the interval at which the keeper checks unfinished lines, while there are any.
const settleEvery = 250 * time.Millisecond

// keeper is the store's goroutine: it moves segments to disk, removes files, and completes lines that stay unfinished.
// It sleeps while it has no work.
type keeper struct {
	s       *Store
	wake    chan struct{} // one slot
	quit    chan struct{}
	stopped chan struct{}

	mu    sync.Mutex
	open  map[*writer]bool // writers with unfinished lines; true if a timeout will complete them
	trash []string         // files to remove
}

func newKeeper(s *Store) *keeper {
	k := &keeper{
		s: s, wake: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{}),
		open: map[*writer]bool{},
	}
	go k.run()
	return k
}

func (k *keeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *keeper) stop() {
	close(k.quit)
	<-k.stopped
}

// watch makes the keeper check a writer's unfinished lines until they are stored.
func (k *keeper) watch(w *writer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.open[w] {
		k.open[w] = true
		k.poke()
	}
}

// hold keeps a writer for Close only.
func (k *keeper) hold(w *writer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[w] = false
}

func (k *keeper) forget(w *writer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, w)
}

// discard queues files for removal.
func (k *keeper) discard(files []*spillFile) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range files {
		k.trash = append(k.trash, f.path)
	}
	k.poke()
}

// run removes files and spills segments until Close ends it. While a timeout will complete unfinished lines, it also
// checks their writers every settleEvery.
func (k *keeper) run() {
	defer close(k.stopped)
	timer := time.NewTimer(settleEvery)
	defer timer.Stop()
	for {
		k.emptyTrash()
		for k.s.spill != nil && k.spillOne() {
			k.emptyTrash()
			select {
			case <-k.quit:
				return
			default:
			}
		}
		var tick <-chan time.Time
		if k.waiting() {
			timer.Reset(settleEvery)
			tick = timer.C
		}
		select {
		case <-k.quit:
			return
		case <-k.wake:
		case <-tick:
		}
		for _, w := range k.writers(false) {
			w.settle()
		}
	}
}

// waiting reports whether a timeout will complete any line.
func (k *keeper) waiting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, timed := range k.open {
		if timed {
			return true
		}
	}
	return false
}

// writers returns all writers with unfinished lines, or only those that a timeout will complete.
func (k *keeper) writers(all bool) []*writer {
	k.mu.Lock()
	defer k.mu.Unlock()
	var ws []*writer
	for w, timed := range k.open {
		if timed || all {
			ws = append(ws, w)
		}
	}
	return ws
}

func (k *keeper) flushAll() {
	for _, w := range k.writers(true) {
		w.Flush()
	}
}

func (k *keeper) emptyTrash() {
	k.mu.Lock()
	trash := k.trash
	k.trash = nil
	k.mu.Unlock()
	for _, path := range trash {
		_ = os.Remove(path) // Close removes the whole folder anyway
	}
}

// spillOne moves the next segment to disk, and reports whether there was one.
func (k *keeper) spillOne() bool {
	s := k.s
	s.mu.Lock()
	r := s.fullestLocked()
	if r == nil {
		s.mu.Unlock()
		return false
	}
	seg := r.spillable()
	f, fresh := k.fileLocked(r)
	buf, offset := seg.buf, f.size
	s.mu.Unlock()

	length, numbers, err := s.spill.write(f, offset, buf)

	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.room.Broadcast()
	if fresh && (r.gone || err != nil) {
		k.discard([]*spillFile{f})
	}
	switch {
	case r.gone:
	case err != nil:
		s.loseLocked(r, err)
	default:
		freed := r.markSpilled(f, offset, length, numbers)
		r.memory -= freed
		s.memory -= freed
		s.boundDiskLocked(r)
	}
	return true
}

// fileLocked returns the file that takes the resource's next segment.
func (k *keeper) fileLocked(r *resource) (f *spillFile, fresh bool) {
	if n := len(r.files); n > 0 && r.files[n-1].size < k.s.diskLimit/filesPerResource {
		return r.files[n-1], false
	}
	return k.s.spill.newFile(), true
}

// fullestLocked returns the resource whose segment should be spilled next: the one that uses the most memory, if it or
// all resources together exceed their bound.
func (s *Store) fullestLocked() *resource {
	var fullest *resource
	for _, r := range s.resources {
		if r.memory > 0 && (fullest == nil || r.memory > fullest.memory) {
			fullest = r
		}
	}
	if fullest == nil || fullest.memory <= s.memoryLimit && s.memory <= s.totalLimit {
		return nil
	}
	return fullest
}

// boundDiskLocked drops the oldest files of a resource that exceeds its bound on disk.
func (s *Store) boundDiskLocked(r *resource) {
	for r.disk > s.diskLimit && len(r.files) > 1 {
		f := r.files[0]
		r.files = r.files[1:]
		r.disk -= f.size
		s.dropLocked(r, f.segments)
		s.keeper.discard([]*spillFile{f})
		s.notifyLocked()
	}
}

// loseLocked drops the oldest segment in memory and everything older, because the segment cannot be written. It logs a
// warning once.
func (s *Store) loseLocked(r *resource, err error) {
	s.keeper.discard(r.files)
	r.files, r.disk = nil, 0
	s.dropLocked(r, r.spilled+1)
	if s.trouble || s.closed {
		return
	}
	s.trouble = true
	s.seq++
	s.addLocked(s.resourceLocked(""), &Entry{
		Time: s.now(), Level: LevelWarn,
		Text: fmt.Sprintf("cannot keep older log lines on disk, so only the newest are kept: %v", err),
	})
	s.notifyLocked()
}
