//go:build unix

package sessions

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether a file is the user's own.
func owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// exposed reports whether others may do anything with a file.
func exposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// shortDir is a folder of this user whose path is short. It is checked before it is used, since any user can make it.
func shortDir() string { return fmt.Sprintf("/tmp/hone-%d", os.Geteuid()) }
