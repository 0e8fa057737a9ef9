package watch

import (
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// manyLooks is the smallest number of paths that several goroutines read before they are looked at: for 20,000 files that appear
	// at once, reading takes most of the time.
	manyLooks = 64
	// mostReaders bounds these goroutines.
	mostReaders = 4
)

// peek is the result of reading a path.
type peek struct {
	at   time.Time // the time just before it was read
	stat stat
	hash uint64 // of a small file or a link
	torn bool   // see hashFile
	err  error
}

// read reads the file or link at a path that st describes.
func (p *peek) read(path string, buf *[]byte) {
	p.at = time.Now()
	p.hash, p.torn, p.err = hashFile(path, p.stat, buf)
}

// peekAll reads many paths, several at a time, and waits until all have been read; few paths are not worth it.
func peekAll(ls []*look) map[string]peek {
	if len(ls) < manyLooks {
		return nil
	}
	all := make([]peek, len(ls))
	var readers errgroup.Group
	readers.SetLimit(min(mostReaders, runtime.GOMAXPROCS(0)))
	for first := 0; first < len(ls); first += manyLooks {
		readers.Go(func() error {
			var buf []byte
			for i := first; i < min(first+manyLooks, len(ls)); i++ {
				p, path := &all[i], ls[i].path
				p.at = time.Now()
				p.stat, p.err = lstat(path)
				small := p.stat.kind == kindLink || p.stat.kind == kindFile && p.stat.size <= smallFile
				if p.err == nil && small {
					p.read(path, &buf)
				}
			}
			return nil
		})
	}
	_ = readers.Wait() // each has its own error
	out := make(map[string]peek, len(ls))
	for i, l := range ls {
		if all[i].err == nil { // an error is looked at by itself
			out[l.path] = all[i]
		}
	}
	return out
}

// lstat works like the function lstat, for a path that may have been read before.
func (w *Watcher) lstat(path string) (stat, error) {
	if p, ok := w.peeks[path]; ok {
		return p.stat, nil
	}
	return lstat(path)
}

// peek reads the small file or the link at a path that st describes, if that has not been done before.
func (w *Watcher) peek(path string, st stat) peek {
	if p, ok := w.peeks[path]; ok && p.stat == st {
		return p
	}
	p := peek{stat: st}
	p.read(path, &w.buf)
	return p
}
