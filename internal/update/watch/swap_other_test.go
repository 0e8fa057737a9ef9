//go:build !linux

package watch

import (
	"os"
	"testing"
)

// swap exchanges two paths.
func swap(t *testing.T, a, b string) {
	t.Helper()
	do(t, os.Rename(b, a+".old"), os.Rename(a, b), os.Rename(a+".old", a))
}
