package command

import (
	"os"
	"os/exec"
	"strconv"
)

// asGroup makes cmd end with its whole process tree when its context ends.
func asGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run(); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
}

// fileIdentity distinguishes a file from another one that replaced it; on Windows size and time must suffice.
func fileIdentity(os.FileInfo) string { return "" }
