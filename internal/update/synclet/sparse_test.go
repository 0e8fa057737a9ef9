//go:build linux

package synclet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSparse saves files with holes at their beginning, in the middle and at their end: the holes neither travel nor take room.
func TestSparse(t *testing.T) {
	for _, size := range []int64{1 << 20, 6 << 20} {
		for _, at := range []int64{0, size / 2, size - 1000} {
			for _, others := range []int{0, 100} {
				t.Run(fmt.Sprintf("%d bytes, content at %d, %d others", size, at, others), func(t *testing.T) {
					if others > 0 && size > bulkOfTests {
						t.Skip("it is too large for a bulk")
					}
					r := newRig(t)
					save := func(content []byte) {
						t.Helper()
						f, err := os.OpenFile(filepath.Join(r.local, "f"), os.O_CREATE|os.O_WRONLY, 0o644)
						check(t, err)
						check(t, f.Truncate(size))
						_, err = f.WriteAt(content, at)
						check(t, err)
						check(t, f.Close())
						names := []string{"f"}
						for i := range others {
							names = append(names, fmt.Sprint("other", i))
							r.write(names[i+1], string(content[:8]))
						}
						before := r.sent()
						r.apply(names...)
						want, err := os.ReadFile(filepath.Join(r.local, "f"))
						check(t, err)
						r.holds("f", want)
						if n := r.sent() - before; n > 300<<10+others*200 {
							t.Errorf("%d bytes were sent", n)
						}
					}
					save(bytes.Repeat([]byte("content "), 125))
					save(bytes.Repeat([]byte("changed "), 125))
					info, err := os.Stat(filepath.Join(r.remote, "f"))
					check(t, err)
					if room := info.Sys().(*syscall.Stat_t).Blocks * 512; others == 0 && room > size/2 {
						t.Errorf("it takes %d bytes", room)
					}
				})
			}
		}
	}
}

// bulkOfTests is the most bytes that a bulk may hold if the container's memory is not known.
const bulkOfTests = 8 << 20
