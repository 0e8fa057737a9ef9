package watch

import (
	"context"
	"errors"
	"fmt"
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
	return &portable{dirs: map[string]dirState{}, opened: make(chan struct{})}
}

func (p *portable) SeesClose() bool { return false }

// Mark fails: some of the systems behind fsnotify delay events arbitrarily.
func (p *portable) Mark(*mark) error { return errors.ErrUnsupported }

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
			ns = []notice{{op: opOverflow}}
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
