//go:build !linux

package harness

import (
	"os"
	"syscall"
)

// endWithParent asks for nothing: only Linux can.
func endWithParent() *syscall.SysProcAttr { return nil }

// maxRSS is unknown: systems count it in different units, or not at all.
func maxRSS(*os.ProcessState) int64 { return 0 }
