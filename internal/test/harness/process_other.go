//go:build !linux

package harness

import (
	"os"
	"syscall"
)

// endWithParent returns nil: only Linux supports this.
func endWithParent() *syscall.SysProcAttr { return nil }

// maxRSS returns 0: systems count it in different units, or do not count it.
func maxRSS(*os.ProcessState) int64 { return 0 }
