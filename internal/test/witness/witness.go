//go:build linux

// Package witness observes, independently of hone, the files of containers on this machine and the processes that are
// started in them: it reads their file systems through /proc and listens to containerd.
//
// # Concurrency
//
// A Witness and an Execs own one goroutine each, which ends with Close.
package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sighting is a file as it was found after an event.
type Sighting struct {
	// Path is relative to the root.
	Path string
	// Content is valid until the receiver returns.
	Content []byte
	// Woken is the time at which the kernel's notice was read, and At is the time at which the content had been read.
	Woken, At time.Time
}

// Witness watches folders of one file system. Make it with Open.
type Witness struct {
	root    string
	inotify *os.File
	dirs    map[int32]string
	saw     func(Sighting)
	done    chan struct{}

	mu  sync.Mutex // held while a file is read and shown
	buf []byte
}

// Open watches the given folders, which are relative to root, for files that are closed after writing or moved there,
// and passes them to saw, one at a time. Names that begin with a dot are skipped: staged files have them.
func Open(root string, dirs []string, saw func(Sighting)) (*Witness, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	w := &Witness{root: root, inotify: os.NewFile(uintptr(fd), "inotify"), dirs: map[int32]string{}, saw: saw, done: make(chan struct{})}
	for _, dir := range dirs {
		wd, err := unix.InotifyAddWatch(fd, filepath.Join(root, dir), unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_ONLYDIR)
		if err != nil {
			_ = w.inotify.Close()
			return nil, fmt.Errorf("watch %s in %s: %w", dir, root, err)
		}
		w.dirs[int32(wd)] = dir
	}
	go w.run()
	return w, nil
}

// Close stops watching.
func (w *Witness) Close() {
	_ = w.inotify.Close()
	<-w.done
}

func (w *Witness) run() {
	defer close(w.done)
	buf := make([]byte, 256<<10)
	for {
		n, err := w.inotify.Read(buf)
		if err != nil {
			return
		}
		woken := time.Now()
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			ev := (*unix.InotifyEvent)(unsafe.Pointer(&b[0]))
			end := unix.SizeofInotifyEvent + int(ev.Len)
			name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:end], []byte{0})
			b = b[end:]
			if dir, ok := w.dirs[ev.Wd]; ok && len(name) > 0 && name[0] != '.' {
				w.look(filepath.Join(dir, string(name)), woken)
			}
		}
	}
}

// Look passes the present state of a file to saw, in case a notice was lost.
func (w *Witness) Look(path string) { w.look(path, time.Now()) }

func (w *Witness) look(path string, woken time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	content, err := w.read(filepath.Join(w.root, path))
	if err == nil { // otherwise it is gone again
		w.saw(Sighting{Path: path, Content: content, Woken: woken, At: time.Now()})
	}
}

// read reads a whole file into the buffer. w.mu is held.
func (w *Witness) read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := 0
	for {
		if n == len(w.buf) {
			w.buf = append(w.buf, make([]byte, max(4<<10, len(w.buf)))...)
		}
		m, err := f.Read(w.buf[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return w.buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Root returns the root folder of a running container, as this machine sees it: the root of its first process, which is found by
// its control group. Where the containers of a pod share their processes, that is not number 1.
func Root(id string) (string, error) {
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return "", err
	}
	root, first := "", 0
	for _, path := range groups {
		dir := filepath.Dir(path)
		if raw, err := os.ReadFile(path); err != nil || !bytes.Contains(raw, []byte(id)) {
			continue
		}
		if n := number(dir); n > 0 && (first == 0 || n < first) {
			root, first = filepath.Join(dir, "root"), n
		}
	}
	if first == 0 {
		return "", fmt.Errorf("no process of container %s runs on this machine", id)
	}
	return root, nil
}

// number returns the number of a process in its own namespace; 0 if it has none.
func number(dir string) int {
	raw, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if all := strings.Fields(ids); len(all) > 1 {
				n, _ := strconv.Atoi(all[len(all)-1])
				return n
			}
		}
	}
	return 0
}
