//go:build unix

package tiltfile

import (
	"os/exec"
	"syscall"
)

// asGroup makes cmd the leader of a process group that is killed as a whole when its context ends.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
