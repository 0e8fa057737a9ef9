//go:build unix

package up

import "syscall"

// apart lets a process outlive the terminal that it was started in.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
