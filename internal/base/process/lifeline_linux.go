package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// lifeline is a pipe that is never written to. This process and its guard hold its writing end. Each group has its own
// file description of the reading end, which is set up so that the kernel signals the group on an event. The only
// possible event is that the last writer is gone: the kernel then kills every group, even if its processes ignore
// signals, and however this process and its guard died.
type lifeline struct{ read, write *os.File }

// open creates the pipe unless it exists.
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

// pass gives the writing end to a guard process that has not started yet.
func (l *lifeline) pass(cmd *exec.Cmd) { cmd.ExtraFiles = append(cmd.ExtraFiles, l.write) }

// leash is one group's file description of the lifeline's reading end. The processes of the group inherit it; it is in
// force while one of them keeps it open.
type leash struct{ fd int }

// leashNumber is the least number of the file descriptor that a command inherits. Scripts use small numbers for their
// own files, and shells the next ones above ten.
const leashNumber = 120

// newLeash returns a leash that ties a command to the lifeline. If the lifeline is not open it is nil, which does
// nothing.
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
	// A new file description has its own signal and owner, unlike a duplicate.
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

// lend calls start while new processes inherit the leash. A process that is started elsewhere at this moment inherits
// it as well, which does no harm.
func (l *leash) lend(start func() error) error {
	if l == nil {
		return start()
	}
	lent, err := unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD, leashNumber)
	if errors.Is(err, unix.EINVAL) { // the limit of open files is lower
		lent, err = unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD, 10)
	}
	if err != nil {
		return fmt.Errorf("lend the lifeline: %w", err)
	}
	defer unix.Close(lent)
	return start()
}

// hold makes the kernel kill the group at the end of the lifeline. It sets signal and owner first, so that the leash is
// never partly in force.
func (l *leash) hold(pgid int) error {
	if l == nil {
		return nil
	}
	fd := uintptr(l.fd)
	if _, err := unix.FcntlInt(fd, unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
		return fmt.Errorf("tie group %d to the lifeline: %w", pgid, err)
	}
	if _, err := unix.FcntlInt(fd, unix.F_SETOWN, -pgid); errors.Is(err, unix.ESRCH) {
		return nil // the group is already gone
	} else if err != nil {
		return fmt.Errorf("tie group %d to the lifeline: %w", pgid, err)
	}
	if _, err := unix.FcntlInt(fd, unix.F_SETFL, unix.O_NONBLOCK|unix.O_ASYNC); err != nil {
		return fmt.Errorf("tie group %d to the lifeline: %w", pgid, err)
	}
	return nil
}

// close closes this process' descriptor. From then on, only the group keeps the leash open.
func (l *leash) close() {
	if l != nil {
		unix.Close(l.fd)
	}
}
