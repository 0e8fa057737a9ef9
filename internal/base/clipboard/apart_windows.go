package clipboard

import "syscall"

// apart returns the attributes of a process without a window.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{HideWindow: true} }
