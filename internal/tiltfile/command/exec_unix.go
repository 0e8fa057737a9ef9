//go:build unix

package command

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// asGroup makes cmd the leader of a process group that is killed as a whole when its context ends.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// fileIdentity distinguishes a file from another one that replaced it.
func fileIdentity(info os.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(st.Dev, st.Ino)
	}
	return ""
}
