//go:build unix

package sessions

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether a file belongs to the user.
func owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// exposed reports whether others have any permission on a file.
func exposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// shortDir returns a folder of this user with a short path. It is checked before it is used, because any user can create it.
func shortDir() string { return fmt.Sprintf("/tmp/hone-%d", os.Geteuid()) }
