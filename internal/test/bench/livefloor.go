//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/witness"
)

// floor is the time that no program of this kind can beat: waking up after a save, sending the bytes to a process in the
// container, and putting them into place there. The parts are measured with pauses like those between saves, in which
// all processes involved go to sleep.
type floor struct {
	wake times // until a notice of the kernel about a saved file is read
	echo times // 1 KB to a process in the container and back, over an exec that stays open
	// write is writing a new file of 1 KB and renaming it over the old, in the container's file system.
	write times
	// awake is the echo without pauses.
	awake times
	// exec is running "true", for comparison: the cost of an exec for each save.
	exec times
}

// at adds up the parts, each at the given share.
func (f *floor) at(share float64) time.Duration {
	return f.wake.at(share) + f.echo.at(share)/2 + f.write.at(share)
}

const (
	// floorRounds is the number of measurements of each part, and floorPause is the time between two of them.
	floorRounds, floorPause = 100, 50 * time.Millisecond
)

// measureFloor measures the parts with a container whose root folder is at root.
func (c *cluster) measureFloor(ctx context.Context, namespace, pod, root string) (*floor, error) {
	base, err := c.podBaselines(ctx, namespace, pod)
	if err != nil {
		return nil, err
	}
	f := &floor{awake: base.echo, exec: base.exec}
	if f.echo, err = c.echo(ctx, namespace, pod, 1024, floorRounds, floorPause); err != nil {
		return nil, fmt.Errorf("echo with pauses: %w", err)
	}
	if f.wake, err = wakeUps(ctx); err != nil {
		return nil, fmt.Errorf("wake-up: %w", err)
	}
	text := bytes.Repeat([]byte("x"), 1024)
	path := filepath.Join(root, "files", ".floor")
	defer os.Remove(path)
	for range floorRounds {
		if err := harness.Sleep(ctx, floorPause); err != nil {
			return nil, err
		}
		took, err := repeat(1, func() error { return replace(path, text) })
		if err != nil {
			return nil, fmt.Errorf("write in the container: %w", err)
		}
		f.write = append(f.write, took...)
	}
	return f, nil
}

// wakeUps measures the time from the end of a save until a program has read the kernel's notice of it.
func wakeUps(ctx context.Context) (times, error) {
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	woken := make(chan time.Time, 1)
	w, err := witness.Open(dir, []string{"."}, func(s witness.Sighting) {
		woken <- s.Woken
	})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	var took times
	for i := range floorRounds {
		if err := os.WriteFile(filepath.Join(dir, "file"), fmt.Appendf(nil, "%d", i), 0o644); err != nil {
			return nil, err
		}
		saved := time.Now()
		select {
		case at := <-woken:
			took = append(took, max(0, at.Sub(saved)))
		case <-time.After(time.Second):
			return nil, fmt.Errorf("no notice of a save")
		}
		if err := harness.Sleep(ctx, floorPause); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// replace writes a file next to its place and renames it there.
func replace(path string, text []byte) error {
	if err := os.WriteFile(path+"~", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}
