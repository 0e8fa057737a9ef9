//go:build linux

package agent

import (
	"syscall"
	"unsafe"
)

// isTerminal reports whether a file is a terminal.
func isTerminal(fd uintptr) bool {
	var size [4]uint16
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	return e == 0
}
