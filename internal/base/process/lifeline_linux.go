package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// lifeline is a pipe that is never written to. This process and its guard hold its writing end, and each group has a
// description of the reading end with which the kernel is asked to signal the group when something happens there. All
// that can happen is that the last writer is gone: the kernel then kills every group, whatever its processes do about
// signals, and however this process and its guard died.
type lifeline struct{ read, write *os.File }

// open makes the pipe unless there is one.
func (l *lifeline) open() error {
	if l.write != nil {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	l.read, l.write = r, w
	return nil
}

// pass lets a guard process, which has not started yet, hold the writing end.
func (l *lifeline) pass(cmd *exec.Cmd) { cmd.ExtraFiles = append(cmd.ExtraFiles, l.write) }

// leash is the description of the lifeline's reading end that belongs to one group. The processes of the group inherit
// it; the kernel acts for as long as one of them keeps it open.
type leash struct{ fd int }

// leashNumber is the least number of the file descriptor that a command inherits. Scripts choose small ones for files of
// their own, and shells the next above ten.
const leashNumber = 120

// newLeash returns what ties a command to the lifeline; nil, which does nothing, without one.
func (l *lifeline) newLeash() (*leash, error) {
	if l.read == nil {
		return nil, nil
	}
	var fd int
	var err error
	conn, err := l.read.SyscallConn()
	if err != nil {
		return nil, err
	}
	// A description of its own has a signal and an owner of its own, which a duplicate would not.
	if controlErr := conn.Control(func(pipe uintptr) {
		fd, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", pipe), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}); controlErr != nil {
		return nil, controlErr
	}
	if err != nil {
		return nil, fmt.Errorf("open the lifeline: %w", err)
	}
	return &leash{fd}, nil
}

// lend calls start while new processes inherit the leash. One that is started elsewhere at this moment gets it, too, and
// does no harm with it.
func (l *leash) lend(start func() error) error {
	if l == nil {
		return start()
	}
	lent, err := unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD, leashNumber)
	if errors.Is(err, unix.EINVAL) { // so many files are not allowed
		lent, err = unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD, 10)
	}
	if err != nil {
		return fmt.Errorf("lend the lifeline: %w", err)
	}
	defer unix.Close(lent)
	return start()
}

// hold makes the kernel kill the group at the end of the lifeline. Signal and owner come first, so that nothing less than
// the whole can be in force.
func (l *leash) hold(pgid int) error {
	if l == nil {
		return nil
	}
	fd := uintptr(l.fd)
	if _, err := unix.FcntlInt(fd, unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
		return fmt.Errorf("tie group %d to the lifeline: %w", pgid, err)
	}
	if _, err := unix.FcntlInt(fd, unix.F_SETOWN, -pgid); errors.Is(err, unix.ESRCH) {
		return nil // the group is gone already
	} else if err != nil {
		return fmt.Errorf("tie group %d to the lifeline: %w", pgid, err)
	}
	if _, err := unix.FcntlInt(fd, unix.F_SETFL, unix.O_NONBLOCK|unix.O_ASYNC); err != nil {
		return fmt.Errorf("tie group %d to the lifeline: %w", pgid, err)
	}
	return nil
}

// close leaves the leash to the group alone.
func (l *leash) close() {
	if l != nil {
		unix.Close(l.fd)
	}
}
