package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/retry"
)

func newBackend() backend { return newInotify() }

const (
	fullMask = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE |
		unix.IN_ATTRIB | unix.IN_EXCL_UNLINK | selfMask
	selfMask = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR
)

// inotify is one inotify instance.
type inotify struct {
	mu     sync.Mutex
	file   *os.File // guarded by mu; nil until the system grants an instance
	closed bool
	// byWD and byDir are each other's inverse, guarded by mu. A folder has several names when it is reached through
	// links or mounts, or was moved and the old name has not been removed yet.
	byWD   map[int32][]string
	byDir  map[string]int32
	full   map[string]bool // the folders in byDir whose content is watched
	opened chan struct{}   // closed when file is set
	// mounted are the mounts from before the first folder was watched.
	mounted map[string]string
	marks   map[int32]*mark // guarded by mu; by the watch whose end stands for the mark
}

func newInotify() *inotify {
	n := &inotify{
		byWD: map[int32][]string{}, byDir: map[string]int32{}, full: map[string]bool{}, opened: make(chan struct{}),
		marks: map[int32]*mark{},
	}
	return n
}

// open gets an instance from the system if there is none yet. n.mu is held.
func (n *inotify) open() error {
	if n.file != nil {
		return nil
	}
	if n.closed {
		return os.ErrClosed
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return fmt.Errorf("%w: %w", errNoInstance, err)
	}
	if err != nil {
		return err
	}
	n.file, n.mounted = os.NewFile(uintptr(fd), "inotify"), mounts()
	close(n.opened)
	return nil
}

func (n *inotify) SeesClose() bool { return true }

func (n *inotify) Add(dir string, link bool) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	mask := uint32(fullMask | unix.IN_DONT_FOLLOW)
	if link {
		mask &^= unix.IN_DONT_FOLLOW
	}
	fresh, err := n.add(dir, mask)
	if err != nil {
		return false, fmt.Errorf("watch %s: %w", dir, err)
	}
	fresh = fresh || !n.full[dir]
	n.full[dir] = true
	return fresh, nil
}

func (n *inotify) AddSelf(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.byDir[dir]; !ok {
		// The folders above a watched path are often not readable; then their moves go unnoticed.
		_, _ = n.add(dir, selfMask|unix.IN_MASK_ADD)
	}
}

// add requests a watch from the system and reports whether dir had a different one or none. n.mu is held.
func (n *inotify) add(dir string, mask uint32) (bool, error) {
	if err := n.open(); err != nil {
		return false, err
	}
	wd, err := n.addWatch(dir, mask)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.ENOMEM) {
		return false, fmt.Errorf("%w: %w", errNoWatches, err)
	}
	if err != nil {
		return false, err
	}
	old, had := n.byDir[dir]
	if had && old == wd {
		return false, nil
	}
	if had {
		n.forget(dir, old)
	}
	n.byDir[dir] = wd
	n.byWD[wd] = append(n.byWD[wd], dir)
	return true, nil
}

// forget removes a name from a watch, and the watch itself when no name is left. n.mu is held.
func (n *inotify) forget(dir string, wd int32) {
	delete(n.byDir, dir)
	delete(n.full, dir)
	n.byWD[wd] = slices.DeleteFunc(n.byWD[wd], func(d string) bool { return d == dir })
	if len(n.byWD[wd]) > 0 || n.file == nil {
		return
	}
	delete(n.byWD, wd)
	if conn, err := n.file.SyscallConn(); err == nil {
		// An error means that the system has dropped the watch already.
		_ = conn.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(wd)) })
	}
}

func (n *inotify) addWatch(dir string, mask uint32) (wd int32, err error) {
	conn, err := n.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var res int
	var sysErr error
	if err := conn.Control(func(fd uintptr) { res, sysErr = unix.InotifyAddWatch(int(fd), dir, mask) }); err != nil {
		return 0, err
	}
	return int32(res), sysErr
}

func (n *inotify) Remove(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if wd, ok := n.byDir[dir]; ok {
		n.forget(dir, wd)
	}
}

func (n *inotify) Run(ctx context.Context, put func([]notice)) error {
	defer n.close()
	select {
	case <-ctx.Done():
		return nil
	case <-n.opened:
	}
	n.mu.Lock()
	file, mounted := n.file, n.mounted // close clears the field
	n.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { watchMounts(ctx, mounted, put) })
	defer all.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, 64<<10)
	written := 0 // how many reads in a row held only writes
	for {
		if written > busyWrites && !retry.Sleep(ctx, writesPause) {
			return nil
		}
		size, err := file.Read(buf)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read file events: %w", err)
		}
		ns := n.parse(buf[:size])
		if len(ns) > 0 {
			put(ns)
		}
		written++
		if slices.ContainsFunc(ns, func(one notice) bool { return one.op != opWritten }) {
			written = 0
		}
	}
}

// A program that writes in small pieces without a pause would keep the reader busy with every piece. After this many
// such reads, a pause lets the system merge many events into one.
const (
	busyWrites  = 100
	writesPause = time.Millisecond
)

func (n *inotify) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.file != nil {
		_ = n.file.Close()
		n.file = nil
	}
}

// parse turns the system's events into notices.
func (n *inotify) parse(buf []byte) []notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]notice, 0, len(buf)/32)
	for len(buf) >= unix.SizeofInotifyEvent {
		ev := (*unix.InotifyEvent)(unsafe.Pointer(&buf[0]))
		end := unix.SizeofInotifyEvent + int(ev.Len)
		name, _, _ := bytes.Cut(buf[unix.SizeofInotifyEvent:end], []byte{0})
		buf = buf[end:]
		out = n.translate(out, ev.Wd, ev.Mask, string(name))
	}
	return out
}

// translate appends the notices of one event. n.mu is held.
func (n *inotify) translate(out []notice, wd int32, mask uint32, name string) []notice {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		out = append(out, notice{op: opOverflow})
		for wd, m := range n.marks { // their events may be lost too; the comparison of all files covers them
			out = append(out, notice{op: opMark, mark: m})
			delete(n.marks, wd)
		}
		return out
	}
	if m := n.marks[wd]; m != nil && mask&unix.IN_IGNORED != 0 {
		delete(n.marks, wd)
		return append(out, notice{op: opMark, mark: m})
	}
	dirs := n.byWD[wd] // none if the watch was removed
	switch {
	case mask&unix.IN_IGNORED != 0:
		for _, dir := range dirs {
			delete(n.byDir, dir)
			delete(n.full, dir)
		}
		delete(n.byWD, wd)
	case mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0:
		for _, dir := range dirs {
			out = append(out, notice{path: dir, op: opSelf, dir: true})
		}
	case name != "": // otherwise it is metadata of the folder itself
		isDir := mask&unix.IN_ISDIR != 0
		op, ok := nameOp(mask)
		if !ok {
			break
		}
		for _, dir := range dirs {
			out = append(out, notice{path: join(dir, name), op: op, dir: isDir})
		}
	}
	return out
}

// nameOp returns the kind of an event about a name in a folder.
func nameOp(mask uint32) (op, bool) {
	switch {
	case mask&unix.IN_CREATE != 0:
		return opCreated, true
	case mask&unix.IN_CLOSE_WRITE != 0:
		return opClosed, true
	case mask&unix.IN_MODIFY != 0:
		return opWritten, true
	case mask&unix.IN_MOVED_TO != 0:
		return opMovedIn, true
	case mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		return opGone, true
	case mask&unix.IN_ATTRIB != 0:
		return opAttrib, true
	}
	return 0, false
}

var _ backend = (*inotify)(nil)
