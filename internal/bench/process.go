//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc, which Linux fixes at 100 per second for programs.
const clockTick = 10 * time.Millisecond

// cpuTime returns the CPU time that a process has used.
func cpuTime(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may have spaces in it: count from behind it.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("process %d: unexpected stat", pid)
	}
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * clockTick
	}
	return sum, nil
}

// memory returns the bytes that a process has in memory, and how many of these are its own rather than a file's.
func memory(pid int) (rss, own int64, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(raw)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kb); err == nil {
			rss = kb << 10
		}
		if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &kb); err == nil {
			own = kb << 10
		}
	}
	return rss, own, nil
}

// roots returns the root folders, as this machine sees them, of the processes with the given word on their command line:
// those of containers, whose command lines carry a word that nothing else has.
func roots(word string) []string {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var out []string
	for _, path := range lines {
		raw, err := os.ReadFile(path)
		if err == nil && bytes.HasSuffix(bytes.TrimRight(raw, "\x00"), []byte("\x00"+word)) {
			out = append(out, filepath.Join(filepath.Dir(path), "root"))
		}
	}
	return out
}

// How often a container's files are looked at, and how often new containers are looked for, which takes longer.
const (
	look   = 200 * time.Microsecond
	relook = 50 * time.Millisecond
)

// awaitIn waits until all of the files below one of the roots hold the given text. Where find is not nil, it is asked
// for the roots again and again.
func awaitIn(roots []string, find func() []string, paths []string, text string, limit time.Duration) error {
	want := []byte(text)
	buf := make([]byte, len(want)+1)
	start := time.Now()
	looked := start
	done := make(map[string]int, len(roots)) // of each root, how many of the files have been seen
	for ; ; time.Sleep(look) {
		now := time.Now()
		if now.Sub(start) > limit {
			return fmt.Errorf("%s was not in any container after %s", paths[0], limit)
		}
		if find != nil && now.Sub(looked) > relook {
			roots = find()
			looked = time.Now()
		}
		for _, root := range roots {
			for done[root] < len(paths) && holds(filepath.Join(root, paths[done[root]]), want, buf) {
				done[root]++
			}
			if done[root] == len(paths) {
				return nil
			}
		}
	}
}

func holds(path string, want, buf []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	n, _ := f.Read(buf)
	return bytes.Equal(buf[:n], want)
}
