//go:build unix

package crash

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// runtimeStderr is the file descriptor that the Go runtime writes to.
const runtimeStderr = 2

// separate returns standard error as another file descriptor.
func separate() (*os.File, error) {
	fd, err := unix.FcntlInt(runtimeStderr, unix.F_DUPFD_CLOEXEC, runtimeStderr+1)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), os.Stderr.Name()), nil
}

// redirect lets the runtime write to a file.
func redirect(to *os.File) error { return unix.Dup2(int(to.Fd()), runtimeStderr) }

// apart keeps the signals of the terminal from the monitor.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
