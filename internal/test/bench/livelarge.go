//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

const (
	largeCase = "100 MB, a few bytes changed"
	largeSize = 100 << 20
	largeFile = "files/100m"
)

// measureLarge saves a file of 100 MB, with the processor time and the memory that it takes on both sides.
func (l *live) measureLarge(ctx context.Context, app []*container) error {
	if !l.wanted(largeCase) {
		return nil
	}
	synclet, err := syncletIn(app[0].root)
	if err != nil {
		return err
	}
	hone := l.up.Cmd.Process.Pid
	files := func(int) []file { return []file{{largeFile, largeFile, l.noise(largeSize)}} }
	if _, _, err := l.spaced(ctx, app, 2, time.Second, files); err != nil { // the first one is new to the container
		return err
	}
	sides := []*side{{name: "hone", pid: hone}, {name: "synclet", pid: synclet}}
	for _, s := range sides {
		if err := s.begin(); err != nil {
			return err
		}
	}
	n := max(l.times(10), 3)
	err = l.measure(ctx, app, largeCase, nil, func() (liveCase, error) { return l.spacedCase(ctx, app, n, time.Second, files) })
	if err != nil {
		return err
	}
	var notes []string
	for _, s := range sides {
		note, err := s.end(n)
		if err != nil {
			return err
		}
		notes = append(notes, note)
	}
	l.report.cases[len(l.report.cases)-1].note = strings.Join(notes, "; ")
	return os.Remove(filepath.Join(l.project.Dir, largeFile))
}

// side is a process that takes part in an update.
type side struct {
	name string
	pid  int
	used time.Duration
}

func (s *side) begin() (err error) {
	if s.used, err = harness.CPUTime(s.pid); err != nil {
		return err
	}
	// The peak begins here: see clear_refs in proc(5).
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.pid), []byte("5"), 0)
}

// end describes the processor time of the process for each of n updates, and its peak memory.
func (s *side) end(n int) (string, error) {
	used, err := harness.CPUTime(s.pid)
	if err != nil {
		return "", err
	}
	peak, err := harness.PeakMemory(s.pid)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s of processor time, %d MB at most", s.name, short((used-s.used)/time.Duration(n)), peak>>20), nil
}

// syncletIn returns the process of the synclet in a container whose root folder is given.
func syncletIn(root string) (int, error) {
	want, err := os.Stat(root)
	if err != nil {
		return 0, err
	}
	exes, _ := filepath.Glob("/proc/[0-9]*/exe")
	i := slices.IndexFunc(exes, func(exe string) bool {
		to, err := os.Readlink(exe)
		if err != nil || !strings.HasPrefix(filepath.Base(to), ".hone-synclet-") {
			return false
		}
		is, err := os.Stat(filepath.Join(filepath.Dir(exe), "root"))
		return err == nil && os.SameFile(is, want)
	})
	if i < 0 {
		return 0, errors.New("no synclet runs in the container")
	}
	var pid int
	_, err = fmt.Sscanf(exes[i], "/proc/%d/exe", &pid)
	return pid, err
}
