package watch

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/hone-dev/hone/internal/base/rawfile"
)

const (
	// smallFile is the largest size of files that are read immediately after an event, and read ahead of time so that
	// there is a hash to compare with.
	smallFile = 1 << 20
	// maxAhead and maxAheadBytes bound the number and the total size of the files that are read ahead of time.
	maxAhead      = 50_000
	maxAheadBytes = 512 << 20
	// aheadSlice and aheadPause are the slices and pauses of reading ahead, which leave the machine to others.
	aheadSlice = 4 * time.Millisecond
	aheadPause = 12 * time.Millisecond
)

// hashFile returns the hash of the file or link at path that st describes: of the file's content, or of the link's
// target. buf is scratch space. torn reports whether the file changed while it was read.
func hashFile(path string, st stat, buf *[]byte) (hash uint64, torn bool, err error) {
	if st.kind == kindLink {
		target, err := os.Readlink(path)
		return xxh3.HashString(target), false, err
	}
	f, err := rawfile.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	need := int(st.size) + 512
	if cap(*buf) < need {
		*buf = make([]byte, need)
	}
	n := 0
	for n < need {
		m, err := f.Read((*buf)[n:need])
		n += m
		if errors.Is(err, io.EOF) || err == nil && n == int(st.size) { // whether there is more, fstat says
			break
		}
		if err != nil {
			return 0, false, err
		}
	}
	after, err := fstat(f)
	if err != nil {
		return 0, false, err
	}
	return xxh3.Hash((*buf)[:n]), !after.sameFile(st), nil
}

// hashStream works like hashFile, for files of any size. It stops when ctx ends.
func hashStream(ctx context.Context, path string, buf []byte) (uint64, stat, error) {
	f, err := rawfile.Open(path)
	if err != nil {
		return 0, stat{}, err
	}
	defer f.Close()
	before, err := fstat(f)
	if err != nil {
		return 0, stat{}, err
	}
	if before.kind != kindFile {
		return 0, stat{}, errors.New("not a file any more")
	}
	h := xxh3.New()
	for {
		n, err := f.Read(buf)
		_, _ = h.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, stat{}, err
		}
	}
	after, err := fstat(f)
	if err == nil && !after.sameFile(before) {
		err = errTorn
	}
	return h.Sum64(), before, err
}

var errTorn = errors.New("changed while it was read")

// hasher reads files for the watcher in a goroutine of its own: large files that changed and, at low priority, small
// files before their first change.
type hasher struct {
	mu         sync.Mutex
	urgent     []hashJob // guarded by mu
	reading    bool      // guarded by mu; an urgent file is being read, or its result handed over
	ahead      []string  // guarded by mu
	aheadCount int       // guarded by mu
	aheadBytes int64     // guarded by mu
	wake       chan struct{}
	results    chan []hashResult
}

// hashJob is a large file to read because something happened to it.
type hashJob struct {
	path string
	// compare is set if the result decides whether the file changed; otherwise it is only stored.
	compare bool
	tries   int
}

type hashResult struct {
	hashJob
	hash uint64
	stat stat
	age  uint16 // of the file when it was read, as in record
	err  error
}

func newHasher() *hasher {
	return &hasher{wake: make(chan struct{}, 1), results: make(chan []hashResult)}
}

// hashNow queues a large file. Jobs for the same path become one, which compares if any of them does.
func (h *hasher) hashNow(job hashJob) {
	h.mu.Lock()
	found := false
	for i := range h.urgent {
		if h.urgent[i].path == job.path {
			h.urgent[i].compare = h.urgent[i].compare || job.compare
			found = true
		}
	}
	if !found {
		h.urgent = append(h.urgent, job)
	}
	h.mu.Unlock()
	poke(h.wake)
}

// busy reports whether the result of an urgent job is still to come.
func (h *hasher) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reading || len(h.urgent) > 0
}

// hashAhead queues a small file, as long as the bounds allow.
func (h *hasher) hashAhead(path string, size int64) {
	h.mu.Lock()
	if h.aheadCount < maxAhead && h.aheadBytes+size <= maxAheadBytes {
		h.ahead = append(h.ahead, path)
		h.aheadCount++
		h.aheadBytes += size
	}
	h.mu.Unlock()
	poke(h.wake)
}

// run hashes until ctx ends.
func (h *hasher) run(ctx context.Context) {
	buf := make([]byte, smallFile)
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		}
		for h.step(ctx, buf) {
		}
	}
}

// step does one job, or a slice of the reading ahead, and reports whether there may be more.
func (h *hasher) step(ctx context.Context, buf []byte) bool {
	h.mu.Lock()
	var job hashJob
	urgent := len(h.urgent) > 0
	if urgent {
		job = h.urgent[0]
		h.urgent = h.urgent[1:]
	}
	h.reading = urgent
	ahead := h.ahead
	h.mu.Unlock()
	switch {
	case urgent:
		r := hashResult{hashJob: job}
		start := time.Now()
		r.hash, r.stat, r.err = hashStream(ctx, job.path, buf)
		r.age = newRecord(r.stat, start).age
		return h.send(ctx, []hashResult{r})
	case len(ahead) > 0:
		return h.send(ctx, h.readAhead(ctx, ahead, buf)) && h.rest(ctx)
	}
	return false
}

// readAhead hashes files from the front of the queue for a short while.
func (h *hasher) readAhead(ctx context.Context, queue []string, buf []byte) []hashResult {
	var out []hashResult
	n := 0
	for start := time.Now(); n < len(queue) && time.Since(start) < aheadSlice; n++ {
		r := hashResult{hashJob: hashJob{path: queue[n]}}
		r.hash, r.stat, r.err = hashStream(ctx, queue[n], buf)
		if r.err == nil {
			out = append(out, r)
		}
	}
	h.mu.Lock()
	h.ahead = h.ahead[n:]
	if len(h.ahead) == 0 {
		h.ahead = nil
	}
	h.mu.Unlock()
	return out
}

func (h *hasher) send(ctx context.Context, rs []hashResult) bool {
	select {
	case h.results <- rs:
		return true
	case <-ctx.Done():
		return false
	}
}

// rest waits between two slices. Something urgent ends the wait.
func (h *hasher) rest(ctx context.Context) bool {
	t := time.NewTimer(aheadPause)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			return true
		case <-h.wake:
			h.mu.Lock()
			urgent := len(h.urgent) > 0
			h.mu.Unlock()
			if urgent {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}
