package crash

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// separate returns standard error: the Go runtime looks its own up for each text.
func separate() (*os.File, error) { return os.Stderr, nil }

// redirect lets the runtime write to a file.
func redirect(to *os.File) error {
	return windows.SetStdHandle(windows.STD_ERROR_HANDLE, windows.Handle(to.Fd()))
}

// apart keeps the signals of the console from the monitor.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}
