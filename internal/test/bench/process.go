//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// roots returns the root folders, as this machine sees them, of the processes whose command line ends with the given word. The
// command lines of the containers have a unique last word.
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

// The intervals of looking at a container's files, and of searching for new containers, which takes longer.
const (
	look   = 200 * time.Microsecond
	relook = 50 * time.Millisecond
)

// awaitIn waits until all of the files below one of the roots hold the given text. If find is not nil, it is called for
// the roots periodically.
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
