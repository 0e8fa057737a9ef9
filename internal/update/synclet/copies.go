package synclet

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	// mostCopies bounds the size of all copies, in bytes, and mostCopy the size of one.
	mostCopies = 1 << 30
	mostCopy   = 256 << 20
)

// copies are the contents that containers have, by their sums, so that a new content can be compared with them byte by byte. They
// are in files that have no names, and are gone with the session, however it ends. It is safe for concurrent use; all methods work on
// nil, which keeps nothing.
type copies struct {
	mu    sync.Mutex
	held  map[protocol.Sum]*held
	size  int64
	clock int // counts uses
	// closed means that no further content is kept: an update may end after its pool.
	closed bool
}

// held is one content.
type held struct {
	file *os.File
	size int64
	used int // when it was used last, on the clock of copies
	busy int // how many read it
}

func newCopies() *copies { return &copies{held: map[protocol.Sum]*held{}} }

// keep keeps the content of a local file, if it still has that sum. Copies only save time, so a failure is ignored.
func (c *copies) keep(l *local) {
	if c == nil || l.chunks == nil || l.put.Size > mostCopy {
		return
	}
	sum := l.put.Sum
	c.mu.Lock()
	_, there := c.held[sum]
	c.mu.Unlock()
	if there {
		return
	}
	file, err := l.copied()
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.held[sum]; there || c.closed {
		discard(file)
		return
	}
	c.clock++
	c.held[sum] = &held{file: file, size: int64(l.put.Size), used: c.clock}
	c.size += int64(l.put.Size)
	c.shrink()
}

// copied returns a file without a name that has the content.
func (l *local) copied() (*os.File, error) {
	in, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := os.CreateTemp("", "hone-copy-")
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" { // which does not remove open files: discard does it there
		_ = os.Remove(out.Name())
	}
	var sum protocol.Summer
	if _, err = io.Copy(io.MultiWriter(out, &sum), in); err == nil && sum.Sum() != l.put.Sum {
		err = fmt.Errorf("%s has changed", l.path)
	}
	if err != nil {
		discard(out)
		return nil, err
	}
	return out, nil
}

// discard ends a copy. Once it has no name, another program may have a file of that name.
func discard(f *os.File) {
	_ = f.Close()
	if runtime.GOOS == "windows" {
		_ = os.Remove(f.Name())
	}
}

// shrink discards the contents that were used least recently. mu must be held.
func (c *copies) shrink() {
	for c.size > mostCopies {
		var oldest protocol.Sum
		var found *held
		for sum, h := range c.held {
			if h.busy == 0 && (found == nil || h.used < found.used) {
				oldest, found = sum, h
			}
		}
		if found == nil {
			return
		}
		c.size -= found.size
		delete(c.held, oldest)
		discard(found.file)
	}
}

// open returns the content with a sum, or nil. done must be called after use; it does nothing the second time.
func (c *copies) open(sum protocol.Sum) (content io.ReaderAt, done func()) {
	if c == nil {
		return nil, func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.held[sum]
	if h == nil {
		return nil, func() {}
	}
	c.clock++
	h.used = c.clock
	h.busy++
	return h.file, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		h.busy--
	})
}

// close discards everything. No content may be in use.
func (c *copies) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.held {
		discard(h.file)
	}
	c.held, c.size, c.closed = nil, 0, true
}
