package watch

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/retry"
)

// mountTable lists the mounts that this process sees. The system wakes a process that polls the table when it changes, but reports
// no event in the folder that something is mounted on.
const mountTable = "/proc/self/mountinfo"

// mountsPause is the shortest time between two looks at the mounts: container engines make many.
const mountsPause = 50 * time.Millisecond

// watchMounts passes on a notice about each path at which something is mounted or unmounted, compared with before, until ctx ends.
func watchMounts(ctx context.Context, before map[string]string, put func([]notice)) {
	table, err := unix.Open(mountTable, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(table)
	var wake [2]int
	if unix.Pipe2(wake[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return
	}
	defer unix.Close(wake[0])
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		unix.Close(wake[1]) // the other end hangs up
	})
	defer func() {
		if stop() {
			unix.Close(wake[1])
		} else {
			<-stopped
		}
	}()
	for {
		now := mounts()
		if ns := changedMounts(before, now); len(ns) > 0 {
			put(ns)
		}
		before = now
		if !retry.Sleep(ctx, mountsPause) {
			return
		}
		events := []unix.PollFd{{Fd: int32(table), Events: unix.POLLPRI}, {Fd: int32(wake[0]), Events: unix.POLLIN}}
		_, err := unix.Poll(events, -1)
		if ctx.Err() != nil || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// changedMounts returns notices about the paths whose mounts differ.
func changedMounts(before, now map[string]string) (ns []notice) {
	for path, id := range now {
		if before[path] != id {
			ns = append(ns, notice{path: path, op: opMovedIn})
		}
	}
	for path := range before {
		if now[path] == "" {
			ns = append(ns, notice{path: path, op: opMovedIn})
		}
	}
	return ns
}

// mounts returns the mounts: the number of the topmost mount at each path.
func mounts() map[string]string {
	out := map[string]string{}
	text, err := os.ReadFile(mountTable)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			out[unescape(fields[4])] = fields[0]
		}
	}
	return out
}

// unescape replaces the octal numbers that stand for spaces and the like in the mount table.
func unescape(path string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(path, '\\')
		if at < 0 || len(path) < at+4 {
			return b.String() + path
		}
		b.WriteString(path[:at])
		if n, err := strconv.ParseUint(path[at+1:at+4], 8, 8); err == nil {
			b.WriteByte(byte(n))
			path = path[at+4:]
		} else {
			b.WriteByte('\\')
			path = path[at+1:]
		}
	}
}
