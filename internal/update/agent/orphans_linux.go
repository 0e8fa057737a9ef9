//go:build linux

package agent

import "syscall"

// setChildSubreaper is PR_SET_CHILD_SUBREAPER of prctl(2).
const setChildSubreaper = 36

// adoptOrphans makes this program the parent of its orphaned descendants, even if it is not the first process of its
// namespace, as in pods whose containers share theirs.
func adoptOrphans() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0) }
