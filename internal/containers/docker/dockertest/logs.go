package dockertest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// Line is a line that a container of a Fake has written.
type Line struct {
	Time time.Time
	Text string
}

// ContainerLogs implements Client.
func (f *Fake) ContainerLogs(ctx context.Context, containerID string, since time.Time, follow bool) (io.ReadCloser, error) {
	if err := f.begin(ctx, "ContainerLogs"); err != nil {
		return nil, err
	}
	if _, err := f.container(containerID); err != nil {
		return nil, fmt.Errorf("read the log of container %s: %w", containerID, err)
	}
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(f.tell(ctx, containerID, since, follow, w)) }()
	return r, nil
}

// tell writes the log of a container until the log ends, the reader is gone or ctx is done.
func (f *Fake) tell(ctx context.Context, id string, since time.Time, follow bool, w io.Writer) error {
	f.mu.Lock()
	life := f.life
	f.mu.Unlock()
	for told := 0; ; {
		f.mu.Lock()
		c, next, now := f.containers[id], f.changed, f.life
		var lines []Line
		running := false
		if c != nil {
			lines, running = slices.Clone(c.Log[told:]), c.state(id).Running()
		}
		f.mu.Unlock()
		for _, l := range lines {
			told++
			if l.Time.Before(since) {
				continue
			}
			if _, err := fmt.Fprintf(w, "%s %s\n", l.Time.UTC().Format(time.RFC3339Nano), l.Text); err != nil {
				return err
			}
		}
		if !follow || !running || now != life {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
