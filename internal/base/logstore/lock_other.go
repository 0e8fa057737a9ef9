//go:build !unix

package logstore

import (
	"os"
	"path/filepath"
)

// lockDir opens the file that says that a spill folder is in use; while it is open it cannot be removed.
func lockDir(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
}

// abandoned reports whether a spill folder is not in use.
func abandoned(dir string) bool { return os.Remove(filepath.Join(dir, "lock")) == nil }
