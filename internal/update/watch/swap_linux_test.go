package watch

import (
	"testing"

	"golang.org/x/sys/unix"
)

// swap exchanges two paths.
func swap(t *testing.T, a, b string) {
	t.Helper()
	do(t, unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE))
}
