package watch

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Mark watches a private file and removes the watch at once: the system reports the end of the watch after all earlier events. If
// no folder is watched, the mark counts as passed at once.
func (n *inotify) Mark(m *mark) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		close(m.passed)
		return nil
	}
	fd, err := unix.MemfdCreate("hone-watch-mark", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("mark file events: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	wd, err := n.addWatch(fmt.Sprintf("/proc/self/fd/%d", fd), unix.IN_ATTRIB)
	if err != nil {
		return fmt.Errorf("mark file events: %w", err)
	}
	conn, err := n.file.SyscallConn()
	if err != nil {
		return fmt.Errorf("mark file events: %w", err)
	}
	n.marks[wd] = m
	var rmErr error
	err = conn.Control(func(f uintptr) { _, rmErr = unix.InotifyRmWatch(int(f), uint32(wd)) })
	if err := errors.Join(err, rmErr); err != nil {
		delete(n.marks, wd)
		return fmt.Errorf("mark file events: %w", err)
	}
	return nil
}
