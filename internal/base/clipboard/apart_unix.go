//go:build unix

package clipboard

import "syscall"

// apart returns the attributes of a process that outlives this one and its terminal: it serves the copied text.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
