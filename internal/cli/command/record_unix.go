//go:build unix

package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/filelock"
)

// record is the file that describes a terminal while a screen has it. Its lock is held for as long as its process lives.
type record struct {
	path   string
	unlock func()
}

// recorded is the content of a record.
type recorded struct {
	// PID and Command describe the process that shows a screen.
	PID     int    `json:"pid"`
	Command string `json:"command"`
	// Session is the session of processes that the terminal controls. A terminal that is opened later under the same number has
	// another one.
	Session int `json:"session"`
	// Settings are the settings of the terminal before the screen opened.
	Settings unix.Termios `json:"settings"`
}

// recordOf returns the path of the record of the terminal of standard input.
func recordOf(dir string) (path string, ok bool) {
	var s unix.Stat_t
	if unix.Fstat(int(os.Stdin.Fd()), &s) != nil {
		return "", false
	}
	return filepath.Join(dir, fmt.Sprintf("%x-%x.json", uint64(s.Dev), uint64(s.Rdev))), true //nolint:unconvert // the types differ between systems
}

// keepRecord records the terminal of standard input; nil if that is not possible, since a screen does not depend on it.
func keepRecord(dir string) *record {
	path, ok := recordOf(dir)
	settings, err := unix.IoctlGetTermios(int(os.Stdin.Fd()), getSettings)
	if !ok || err != nil || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	unlock, free, err := filelock.Try(path)
	if err != nil || !free {
		return nil // another screen has the record
	}
	r := &record{path, unlock}
	name := append([]string{"hone"}, os.Args[1:min(2, len(os.Args))]...)
	b, err := json.Marshal(recorded{PID: os.Getpid(), Command: strings.Join(name, " "), Session: session, Settings: *settings})
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		r.drop()
		return nil
	}
	return r
}

// drop removes the record.
func (r *record) drop() {
	if r != nil {
		_ = os.Remove(r.path)
		r.unlock()
	}
}

// repair restores the terminal of standard input if its record belongs to a process that was killed, and names that process. It
// does not touch a terminal that another process uses in the meantime: one whose record is locked, one in whose background this
// process runs, and one that was opened under the same number after the record was made.
func repair(dir string) (killed string) {
	path, ok := recordOf(dir)
	if !ok {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "" // nothing is recorded
	}
	fd := int(os.Stdin.Fd())
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return ""
	}
	unlock, free, err := filelock.Try(path)
	if err != nil || !free {
		return ""
	}
	defer unlock()
	defer os.Remove(path)
	var was recorded
	session, err := unix.Getsid(0)
	if err != nil || json.Unmarshal(b, &was) != nil || was.Session != session {
		return ""
	}
	_, _ = os.Stdout.WriteString(normal)
	// Settings that serve a shell may be newer than the record.
	if now, err := unix.IoctlGetTermios(fd, getSettings); err == nil && now.Lflag&(unix.ICANON|unix.ECHO) != unix.ICANON|unix.ECHO {
		_ = unix.IoctlSetTermios(fd, setSettings, &was.Settings)
	}
	return fmt.Sprintf("%s (pid %d)", was.Command, was.PID)
}

// sane makes a terminal read lines and echo them.
func sane(fd int) error {
	t, err := unix.IoctlGetTermios(fd, getSettings)
	if err != nil {
		return fmt.Errorf("reset the terminal: %w", err)
	}
	t.Iflag |= unix.BRKINT | unix.ICRNL | unix.IXON
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Lflag |= unix.ISIG | unix.ICANON | unix.IEXTEN | unix.ECHO | unix.ECHOE | unix.ECHOK
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setSettings, t); err != nil {
		return fmt.Errorf("reset the terminal: %w", err)
	}
	return nil
}
