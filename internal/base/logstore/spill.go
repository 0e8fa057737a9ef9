package logstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/hone-dev/hone/internal/base/filelock"
)

// filesPerResource is the approximate number of files into which a resource's disk bound is divided. Lines are dropped
// by whole files.
const filesPerResource = 16

// spillFile holds compressed segments of one resource, one after the other. Only the keeper writes to it; size and
// segments are guarded by the store's mutex.
type spillFile struct {
	path     string
	size     int64
	segments int
}

// spillDir is the folder of one store's spilled segments.
type spillDir struct {
	path   string
	parent string // set when New created it
	unlock func() // marks the folder as no longer in use
	made   int    // number of files so far; used by the keeper only

	enc *zstd.Encoder // used by the keeper only
	dec *zstd.Decoder // only for DecodeAll, by any number of goroutines; it then owns nothing that needs closing
}

// newSpillDir creates a folder below dir, and removes the folders of earlier sessions that did not close their store.
func newSpillDir(dir string) (*spillDir, error) {
	d := &spillDir{}
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		d.parent = dir
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	removeAbandoned(dir)
	var err error
	if d.path, err = os.MkdirTemp(dir, spillPrefix+"*"); err != nil {
		return nil, err
	}
	if d.unlock, err = filelock.Lock(context.Background(), filepath.Join(d.path, lockName)); err != nil { // the folder is new, so there is no wait
		return nil, err
	}
	d.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	d.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true))
	return d, err
}

const (
	spillPrefix = "spill-"
	// lockName is the file in a spill folder that is locked while the folder is in use.
	lockName = "lock"
)

// removeAbandoned removes the folders whose lock is free. It leaves folders that cannot be removed for another time.
func removeAbandoned(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, spillPrefix+"*"))
	for _, path := range found {
		lock := filepath.Join(path, lockName)
		if _, err := os.Lstat(lock); err != nil {
			continue // being created
		}
		if held, err := filelock.Held(lock); err == nil && !held {
			_ = os.RemoveAll(path)
		}
	}
}

// newFile returns a file that does not exist yet.
func (d *spillDir) newFile() *spillFile {
	d.made++
	return &spillFile{path: filepath.Join(d.path, fmt.Sprintf("%06d.zst", d.made))}
}

// write appends a compressed segment to f, and its numbers, and returns the sizes of both in bytes.
func (d *spillDir) write(f *spillFile, offset int64, buf []byte) (length, numbersLength int64, err error) {
	n, err := numbersOf(buf)
	if err != nil {
		return 0, 0, err
	}
	packed := d.enc.EncodeAll(buf, make([]byte, 0, len(buf)/3+len(n)))
	length = int64(len(packed))
	packed = append(packed, n...)
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 0, 0, err
	}
	if _, err = file.WriteAt(packed, offset); err != nil {
		_ = file.Close()
		return 0, 0, err
	}
	return length, int64(len(n)), file.Close()
}

// spillBuffer holds a segment read from disk. Its memory is used again for the next one.
type spillBuffer struct {
	packed, buf []byte
	v           view
}

// read puts the bytes of a segment into to.buf.
func (d *spillDir) read(path string, offset, length int64, to *spillBuffer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	to.packed = slices.Grow(to.packed[:0], int(length))[:length]
	if _, err := file.ReadAt(to.packed, offset); err != nil {
		return err
	}
	to.buf, err = d.dec.DecodeAll(to.packed, to.buf[:0])
	return err
}

func (d *spillDir) remove() error {
	d.unlock() // before the folder is removed: Windows does not remove open files
	err := os.RemoveAll(d.path)
	_ = d.enc.Close()
	if d.parent != "" {
		_ = os.Remove(d.parent) // succeeds only if the folder is empty
	}
	return err
}

// viewCache keeps the last few spilled segments that were read, because a reader that scrolls reads them repeatedly.
type viewCache struct {
	mu      sync.Mutex
	entries []cachedView // newest last
}

type cachedView struct {
	seg *segment
	v   view
}

const cachedViews = 64

// get returns the view of a segment. With use, the view becomes the newest one.
func (c *viewCache) get(seg *segment, use bool) (view, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, e := range c.entries {
		if e.seg == seg {
			if use {
				c.entries = append(append(c.entries[:i], c.entries[i+1:]...), e)
			}
			return e.v, true
		}
	}
	return view{}, false
}

func (c *viewCache) put(seg *segment, v view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= cachedViews {
		c.entries = append(c.entries[:0], c.entries[1:]...)
	}
	c.entries = append(c.entries, cachedView{seg, v})
}
