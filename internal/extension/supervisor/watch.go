//go:build linux

package main

import (
	"encoding/binary"
	"os"
	"strings"
	"syscall"
)

// changed are the events that count as a touch: written, given new times, or put there by renaming.
const changed = syscall.IN_CLOSE_WRITE | syscall.IN_ATTRIB | syscall.IN_MOVED_TO

// watch returns a channel that gets a value after the file was touched; several touches may be one. Where the file
// cannot be watched it says so, and the command runs without restarts. The goroutine that it starts lives as long as
// the process.
func watch(file string) <-chan struct{} {
	touched := make(chan struct{}, 1)
	dir, name := split(file)
	if err := create(file); err != nil {
		say("there will be no restarts, since " + file + " cannot be written: " + err.Error() + "; choose another file with restart_file=")
		return touched
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err == nil {
		// The folder is watched, not the file, which may be replaced.
		_, err = syscall.InotifyAddWatch(fd, dir, changed)
	}
	if err != nil {
		say("there will be no restarts, since " + dir + " cannot be watched: " + err.Error())
		return touched
	}
	go follow(fd, name, touched)
	return touched
}

// create makes the file, which everybody in the container may write: updates may come as another user.
func create(file string) error {
	fd, err := syscall.Open(file, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_CLOEXEC, 0o666)
	if err != nil {
		return err
	}
	_ = syscall.Fchmod(fd, 0o666) // it may belong to another user, who has seen to it
	return syscall.Close(fd)
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
			say("restarts have ended: the file can no longer be watched")
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

func split(file string) (dir, name string) {
	i := strings.LastIndexByte(file, os.PathSeparator)
	switch {
	case i < 0:
		return ".", file
	case i == 0:
		return "/", file[1:]
	}
	return file[:i], file[i+1:]
}
