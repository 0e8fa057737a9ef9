//go:build linux

package agent

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// descendants are the processes that the supervised process has started, and the processes that these have started. Some leave its
// process group (setsid), and their parents may be gone. As the first process of the container, the supervisor adopts them; but it
// also adopts processes that others' commands leave behind in the container, and these it must not touch. So the process gets a
// mark that all its descendants inherit, whatever program they run and whichever user they become, and that every user may read: a
// bit of their core dump filter that affects only the memory of persistent memory devices.
type descendants struct {
	// own is the filter without the mark. known is false where there are no such filters.
	own   uint64
	known bool
}

// markBit is the bit for shared pages of such devices.
const markBit = 1 << 8

// newDescendants marks this program, and so every process that it starts from now on.
func newDescendants() *descendants {
	d := &descendants{}
	if d.own, d.known = filterOf("self"); d.known {
		d.known = os.WriteFile(filterFile("self"), []byte("0x"+strconv.FormatUint(d.own^markBit, 16)), 0) == nil && d.has("self")
	}
	return d
}

func filterFile(pid string) string { return "/proc/" + pid + "/coredump_filter" }

func filterOf(pid string) (filter uint64, ok bool) {
	text, _ := os.ReadFile(filterFile(pid))
	filter, err := strconv.ParseUint(strings.TrimSpace(string(text)), 16, 64)
	return filter, err == nil
}

// has reports whether a process has the mark.
func (d *descendants) has(pid string) bool {
	filter, ok := filterOf(pid)
	return ok && (filter^d.own)&markBit != 0
}

// end kills the descendants that are left, and returns whether there were any. They are reaped by their parents or, once these are
// gone, by this program.
func (d *descendants) end() (any bool) {
	if !d.known {
		return false
	}
	all := processes()
	parents := make(map[int]int, len(all))
	for _, p := range all {
		parents[p.pid] = p.parent
	}
	for _, p := range all {
		if descends(parents, p.pid, os.Getpid()) && d.has(strconv.Itoa(p.pid)) && runs(p.pid, p.start) {
			any = syscall.Kill(p.pid, syscall.SIGKILL) == nil || any
		}
	}
	return any
}

// descends reports whether a process comes from another one. The other containers of a pod may be visible.
func descends(parents map[int]int, pid, from int) bool {
	for range len(parents) {
		if pid = parents[pid]; pid == from {
			return true
		}
	}
	return false
}
