//go:build unix

package server

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/server/door"
)

// TestIdleConnections opens 10,000 connections, as many at a time as the machine lets one program have, and says nothing.
func TestIdleConnections(t *testing.T) {
	f := hostile(t)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	atOnce := min(10000, int(limit.Cur/2)-200) // both ends are in this process
	opened := 0
	for opened < 10000 {
		var conns []net.Conn
		for range min(atOnce, 10000-opened) {
			c, err := f.dial()
			if err != nil {
				if errors.Is(err, syscall.EMFILE) {
					break
				}
				continue
			}
			conns = append(conns, c)
		}
		if len(conns) == 0 {
			t.Fatal("no connection can be opened")
		}
		opened += len(conns)
		if n := openFiles(t); n > len(conns)+door.MaxConnections+200 {
			t.Errorf("%d files are open with %d idle clients", n, len(conns))
		}
		c, base := f.client("unix") // the owner's own door is not in the queue
		resp, err := c.Get(base + "/api/view")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		for _, c := range conns {
			_ = c.Close()
		}
	}
	f.alive()
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this machine does not tell which files are open")
	}
	return len(entries)
}
