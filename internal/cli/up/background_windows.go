package up

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart lets a process outlive the console that it was started in.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
