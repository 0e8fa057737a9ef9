//go:build !linux

package watch

import (
	"os"
	"testing"
)

// swap makes each of two paths what the other was.
func swap(t *testing.T, a, b string) {
	t.Helper()
	do(t, os.Rename(b, a+".old"), os.Rename(a, b), os.Rename(a+".old", a))
}
