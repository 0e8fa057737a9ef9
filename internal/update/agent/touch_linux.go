//go:build linux

package agent

import (
	"encoding/binary"
	"path"
	"strings"
	"syscall"
)

// touches are the relevant events: the file was written, got new times, or was moved there.
const touches = syscall.IN_CLOSE_WRITE | syscall.IN_ATTRIB | syscall.IN_MOVED_TO

// watch returns a channel that gets a value after a file was touched; several touches may be one. The file is created if
// possible, so that every user in the container may touch it; otherwise it may appear later. If its folder cannot be
// watched, the supervisor reports that and continues without it. The goroutine that watch starts lives as long as the
// program.
func watch(file string) <-chan struct{} {
	touched := make(chan struct{}, 1)
	create(file)
	dir, name := path.Split(path.Clean(file))
	if dir == "" {
		dir = "."
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err == nil {
		_, err = syscall.InotifyAddWatch(fd, dir, touches) // the folder, since the file may be replaced
	}
	if err == syscall.ENOENT {
		return touched // without the folder no supervisor touches its files
	}
	if err != nil {
		fail("synclet: touching "+file+" does not restart the process: watch "+dir+": "+err.Error()+"\n", 0)
		return touched
	}
	go follow(fd, name, touched)
	return touched
}

// create creates the file, writable for every user in the container: a touch may come from another user.
func create(file string) {
	fd, err := syscall.Open(file, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_CLOEXEC, 0o666)
	if err != nil {
		return
	}
	_ = syscall.Fchmod(fd, 0o666) // fails if it belongs to another user, who has set the mode
	_ = syscall.Close(fd)
}

// follow reads events until there are no more.
func follow(fd int, name string, touched chan<- struct{}) {
	buf := make([]byte, 16<<10)
	for {
		n, err := syscall.Read(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < syscall.SizeofInotifyEvent {
			return
		}
		if concerns(buf[:n], name) {
			select {
			case touched <- struct{}{}:
			default:
			}
		}
	}
}

// concerns reports whether one of the events is about the file, or events were lost.
func concerns(events []byte, name string) bool {
	found := false
	for len(events) >= syscall.SizeofInotifyEvent {
		mask, length := binary.NativeEndian.Uint32(events[4:]), int(binary.NativeEndian.Uint32(events[12:]))
		end := syscall.SizeofInotifyEvent + length
		if end > len(events) {
			return found
		}
		text, _, _ := strings.Cut(string(events[syscall.SizeofInotifyEvent:end]), "\x00")
		found = found || text == name || mask&syscall.IN_Q_OVERFLOW != 0
		events = events[end:]
	}
	return found
}
