package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/hone-dev/hone/pkg/model"
)

// portable is the back end for every system that fsnotify supports. It cannot tell when a file is closed.
type portable struct {
	mu      sync.Mutex
	watcher *fsnotify.Watcher // guarded by mu; nil until the system grants one
	closed  bool
	dirs    map[string]dirState // guarded by mu
	stale   []string            // guarded by mu; the names that the watcher must forget
	marks   map[string]*mark    // guarded by mu; by the folder whose removal stands for the mark
	opened  chan struct{}       // closed when watcher is set
}

// dirState is the reliability of the watch of a folder.
type dirState uint8

const (
	dirUnwatched dirState = iota
	dirWatched
	dirStale // the folder was moved or removed; the watcher may still hold its name
)

func newPortable() *portable {
	return &portable{dirs: map[string]dirState{}, marks: map[string]*mark{}, opened: make(chan struct{})}
}

func (p *portable) SeesClose() bool { return false }

// orderly reports whether this system has one queue for the events of all folders, first in, first out: inotify and kqueue. Windows
// has a buffer for each folder.
func orderly() bool {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly":
		return true
	}
	return false
}

// Mark watches an empty temporary folder and removes it at once: its removal is reported after all earlier events. The folder is not in
// any source tree, where other programs would notice it. If no folder is watched, the mark counts as passed at once.
func (p *portable) Mark(m *mark) error {
	if !orderly() {
		return errors.ErrUnsupported
	}
	dir, w, err := p.cookie(m)
	if err != nil {
		return fmt.Errorf("mark file events: %w", err)
	}
	if w == nil {
		close(m.passed)
		return nil
	}
	err = w.Add(dir)
	if err := errors.Join(err, os.Remove(dir)); err != nil {
		p.mu.Lock()
		delete(p.marks, dir)
		p.mu.Unlock()
		return fmt.Errorf("mark file events: %w", err)
	}
	return nil
}

// cookie makes the folder of a mark. It returns no watcher if no folder is watched. The lock is held until the folder is known as that
// of a mark, so that its creation is not reported where temporary folders are watched.
func (p *portable) cookie(m *mark) (dir string, w *fsnotify.Watcher, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watcher == nil {
		return "", nil, nil
	}
	dir, err = os.MkdirTemp("", "hone-cookie-*")
	if err != nil {
		return "", nil, err
	}
	p.marks[dir] = m
	return dir, p.watcher, nil
}

// missed returns the notices that stand for events that were lost. Those of marks may be among them; the comparison of all files covers
// them.
func (p *portable) missed() []notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []notice{{op: opOverflow}}
	for dir, m := range p.marks {
		out = append(out, notice{op: opMark, mark: m})
		delete(p.marks, dir)
	}
	return out
}

// open gets a watcher from the system if there is none yet. p.mu is held.
func (p *portable) open() error {
	if p.watcher != nil {
		return nil
	}
	if p.closed {
		return fsnotify.ErrClosed
	}
	w, err := fsnotify.NewWatcher()
	if isOutOfFiles(err) {
		return fmt.Errorf("%w: %w", errNoInstance, err)
	}
	if err != nil {
		return err
	}
	p.watcher = w
	close(p.opened)
	return nil
}

func isOutOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Add calls the watcher without holding the lock: on some systems it waits for the goroutine that delivers events.
func (p *portable) Add(dir string, _ bool) (bool, error) {
	p.mu.Lock()
	watched := p.dirs[dir] == dirWatched
	var err error
	if !watched {
		err = p.open()
	}
	w, stale := p.watcher, p.stale
	if err == nil {
		p.stale = nil
	}
	p.mu.Unlock()
	if err == nil {
		for _, s := range stale {
			// An error means that the watch went with its folder.
			_ = w.Remove(s)
		}
		if watched {
			return false, nil
		}
		err = w.Add(dir)
		if isOutOfFiles(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOMEM) {
			err = fmt.Errorf("%w: %w", errNoWatches, err)
		}
	}
	if err != nil {
		return false, fmt.Errorf("watch %s: %w", dir, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirs[dir] = dirWatched
	return true, nil
}

func (p *portable) AddSelf(string) {}

func (p *portable) Remove(dir string) {
	p.mu.Lock()
	_, ok := p.dirs[dir]
	delete(p.dirs, dir)
	w := p.watcher
	p.mu.Unlock()
	if ok && w != nil {
		// An error means that the watch went with its folder.
		_ = w.Remove(dir)
	}
}

func (p *portable) Run(ctx context.Context, put func([]notice)) error {
	defer p.close()
	select {
	case <-ctx.Done():
		return nil
	case <-p.opened:
	}
	for {
		var ns []notice
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-p.watcher.Events:
			if !ok {
				return fmt.Errorf("read file events: %w", fsnotify.ErrClosed)
			}
			ns = p.translate(ev)
		case _, ok := <-p.watcher.Errors:
			if !ok {
				return fmt.Errorf("read file events: %w", fsnotify.ErrClosed)
			}
			// Whatever went wrong, something may have been missed.
			ns = p.missed()
		}
		put(ns)
	}
}

func (p *portable) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.watcher != nil {
		_ = p.watcher.Close()
	}
}

// translate turns an event into notices.
func (p *portable) translate(ev fsnotify.Event) []notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []notice
	if m := p.marks[ev.Name]; m != nil {
		if ev.Has(fsnotify.Remove) {
			delete(p.marks, ev.Name)
			out = append(out, notice{op: opMark, mark: m})
		}
		return out
	}
	if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		if p.dirs[ev.Name] == dirWatched {
			p.outdate(ev.Name)
			out = append(out, notice{path: ev.Name, op: opSelf, dir: true})
		}
		out = append(out, notice{path: ev.Name, op: opGone})
	}
	if ev.Has(fsnotify.Create) {
		out = append(out, notice{path: ev.Name, op: opCreated})
	}
	if ev.Has(fsnotify.Write) {
		out = append(out, notice{path: ev.Name, op: opWritten})
	}
	if ev.Has(fsnotify.Chmod) {
		out = append(out, notice{path: ev.Name, op: opAttrib})
	}
	return out
}

// outdate notes that a folder is no longer where it was: its watch and those below it have outdated names and must be
// removed before the folder is watched under another name. p.mu is held.
func (p *portable) outdate(dir string) {
	for d, state := range p.dirs {
		if state == dirWatched && model.IsChild(dir, d) {
			p.dirs[d] = dirStale
			p.stale = append(p.stale, d)
		}
	}
}

var _ backend = (*portable)(nil)
