package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
)

// FakeContainer is a running container of a Fake.
type FakeContainer struct {
	Name   string
	Image  string
	Labels map[string]string
	// Files maps absolute paths to contents. Changed are those that differ from the image.
	Files   map[string]string
	Changed []string
	// Exec, if not nil, runs commands and returns the exit code. Without it the container has true, false, echo, cat
	// and "sh -c" with exit, true and false.
	Exec func(ctx context.Context, argv []string, stdin io.Reader, out io.Writer) int
	// Restarts counts calls of RestartContainer.
	Restarts int
	// State is its state. Fields that FakeContainer has itself need not be set in it. An empty Status means running.
	State ContainerState
	// Log is its output.
	Log []FakeLine
}

// FakeLine is a line that a container of a Fake has written.
type FakeLine struct {
	Time time.Time
	Text string
}

// AddContainer adds a running container to the engine.
func (f *Fake) AddContainer(id string, c FakeContainer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.Files = maps.Clone(c.Files)
	if c.Files == nil {
		c.Files = map[string]string{}
	}
	f.containers[id] = &c
	f.wake()
}

// ChangeContainer changes a container, and wakes the watches.
func (f *Fake) ChangeContainer(id string, change func(*FakeContainer)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.containers[id]; ok {
		change(c)
		f.wake()
	}
}

// DropContainer removes a container.
func (f *Fake) DropContainer(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.containers, id)
	f.wake()
}

// Interrupt ends every stream of events and every followed log, like the restart of an engine.
func (f *Fake) Interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life++
	f.wake()
}

// wake wakes the waiters for a change; f.mu is held.
func (f *Fake) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Container returns a copy of the container's current state.
func (f *Fake) Container(id string) (FakeContainer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.containers[id]
	if !ok {
		return FakeContainer{}, false
	}
	out := *c
	out.Files = maps.Clone(c.Files)
	return out, true
}

// Containers implements Client.
func (f *Fake) Containers(ctx context.Context, labels map[string]string) ([]Container, error) {
	if err := f.begin(ctx, "Containers"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Container
next:
	for id, c := range f.containers {
		for k, v := range labels {
			if got, ok := c.Labels[k]; !ok || got != v {
				continue next
			}
		}
		if !c.state(id).Running() {
			continue
		}
		out = append(out, Container{ID: id, Name: c.Name, Image: c.Image, Labels: maps.Clone(c.Labels)})
	}
	return out, nil
}

func (c *FakeContainer) state(id string) ContainerState {
	s := c.State
	s.ID, s.Name, s.Image, s.Labels = id, c.Name, c.Image, maps.Clone(c.Labels)
	s.Status = cmp.Or(s.Status, "running")
	return s
}

// ContainerStates implements Client.
func (f *Fake) ContainerStates(ctx context.Context, labels map[string]string) ([]ContainerState, error) {
	if err := f.begin(ctx, "ContainerStates"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ContainerState
next:
	for _, id := range slices.Sorted(maps.Keys(f.containers)) {
		c := f.containers[id]
		for k, v := range labels {
			if got, ok := c.Labels[k]; !ok || v != "" && got != v {
				continue next
			}
		}
		out = append(out, c.state(id))
	}
	return out, nil
}

// WatchContainers implements Client.
func (f *Fake) WatchContainers(ctx context.Context, _ string, changed func()) error {
	if err := f.begin(ctx, "WatchContainers"); err != nil {
		return err
	}
	f.mu.Lock()
	life, next := f.life, f.changed
	f.mu.Unlock()
	for {
		changed()
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
		f.mu.Lock()
		now := f.life
		next = f.changed
		f.mu.Unlock()
		if now != life {
			return errors.New("the engine has ended the stream of events")
		}
	}
}

// ContainerLogs implements Client.
func (f *Fake) ContainerLogs(ctx context.Context, containerID string, since time.Time, follow bool) (io.ReadCloser, error) {
	if err := f.begin(ctx, "ContainerLogs"); err != nil {
		return nil, err
	}
	if _, err := f.container(containerID); err != nil {
		return nil, fmt.Errorf("read the log of container %s: %w", short(containerID), err)
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
		var lines []FakeLine
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

// ContainerChanges implements Client.
func (f *Fake) ContainerChanges(ctx context.Context, containerID string) ([]string, error) {
	if err := f.begin(ctx, "ContainerChanges"); err != nil {
		return nil, err
	}
	c, err := f.container(containerID)
	if err != nil {
		return nil, fmt.Errorf("compare container %s with its image: %w", short(containerID), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(c.Changed), nil
}

// RemoveContainer implements Client.
func (f *Fake) RemoveContainer(ctx context.Context, containerID string) error {
	if err := f.begin(ctx, "RemoveContainer"); err != nil {
		return err
	}
	if _, err := f.container(containerID); err != nil {
		return fmt.Errorf("remove container %s: %w", short(containerID), err)
	}
	f.DropContainer(containerID)
	return nil
}

// Exec implements Client. The fake's programs write to stdout only.
func (f *Fake) Exec(ctx context.Context, containerID string, argv []string, stdin io.Reader, stdout, _ io.Writer) error {
	return f.ContainerExec(ctx, containerID, argv, stdin, stdout)
}

// ExecTerminal implements Client. The fake's terminal has no size; it turns each line end into CR LF, as a terminal does.
func (f *Fake) ExecTerminal(ctx context.Context, containerID string, argv []string, t Terminal) error {
	return f.ContainerExec(ctx, containerID, argv, t.In, lineEnds{t.Out})
}

// lineEnds writes the line ends of a terminal.
type lineEnds struct{ io.Writer }

// Write implements io.Writer.
func (w lineEnds) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ContainerExec implements Client.
func (f *Fake) ContainerExec(ctx context.Context, containerID string, argv []string, stdin io.Reader, out io.Writer) error {
	if err := f.begin(ctx, "ContainerExec"); err != nil {
		return err
	}
	c, err := f.container(containerID)
	if err != nil {
		return fmt.Errorf("run %s in container %s: %w", strings.Join(argv, " "), short(containerID), err)
	}
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	if out == nil {
		out = io.Discard
	}
	run := c.Exec
	if run == nil {
		run = f.shell(c)
	}
	code := run(ctx, argv, stdin, out)
	if closer, ok := stdin.(io.Closer); ok {
		_ = closer.Close() // as promised by ContainerExec
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if code != 0 {
		return &ExitError{Code: code}
	}
	return nil
}

func (f *Fake) container(id string) (*FakeContainer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.containers[id]
	if !ok {
		return nil, fmt.Errorf("no such container: %s: %w", id, cerrdefs.ErrNotFound)
	}
	return c, nil
}

// shell runs the few commands of a container without Exec.
func (f *Fake) shell(c *FakeContainer) func(context.Context, []string, io.Reader, io.Writer) int {
	return func(_ context.Context, argv []string, stdin io.Reader, out io.Writer) int {
		switch {
		case argv[0] == "echo":
			fmt.Fprintln(out, strings.Join(argv[1:], " "))
			return 0
		case argv[0] == "cat" && len(argv) == 1:
			_, err := io.Copy(out, stdin)
			return code(err == nil)
		case argv[0] == "cat":
			f.mu.Lock()
			text, ok := c.Files[clean(argv[1])]
			f.mu.Unlock()
			_, err := io.WriteString(out, text)
			return code(ok && err == nil)
		case argv[0] == "sh" && len(argv) == 3:
			return shellCode(argv[2])
		case argv[0] == "true" || argv[0] == "false":
			return shellCode(argv[0])
		}
		fmt.Fprintf(out, "%s: not found\n", argv[0])
		return 127
	}
}

func code(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// shellCode returns the exit code of a script that fails on purpose, 0 for any other.
func shellCode(script string) int {
	if script == "false" {
		return 1
	}
	if text, ok := strings.CutPrefix(script, "exit "); ok {
		n, err := strconv.Atoi(text)
		if err == nil {
			return n
		}
	}
	return 0
}

// CopyTo implements Client.
func (f *Fake) CopyTo(ctx context.Context, containerID, dir string, archive io.Reader) error {
	if err := f.begin(ctx, "CopyTo"); err != nil {
		return err
	}
	c, err := f.container(containerID)
	if err != nil {
		return fmt.Errorf("copy files to %s in container %s: %w", dir, short(containerID), err)
	}
	r := tar.NewReader(archive)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("copy files to %s in container %s: %w", dir, short(containerID), err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("copy files to %s in container %s: %w", dir, short(containerID), err)
		}
		f.mu.Lock()
		c.Files[clean(path.Join(dir, header.Name))] = string(data)
		c.Changed = append(c.Changed, clean(path.Join(dir, header.Name)))
		f.mu.Unlock()
	}
}

// Entry implements Client.
func (f *Fake) Entry(ctx context.Context, containerID, name string) (*tar.Header, error) {
	if err := f.begin(ctx, "Entry"); err != nil {
		return nil, err
	}
	c, err := f.container(containerID)
	if err != nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := c.Files[name]; ok {
		return &tar.Header{Name: path.Base(name), Typeflag: tar.TypeReg}, nil
	}
	for file := range c.Files {
		if strings.HasPrefix(file, name+"/") {
			return &tar.Header{Name: path.Base(name) + "/", Typeflag: tar.TypeDir}, nil
		}
	}
	return nil, nil
}

// RestartContainer implements Client.
func (f *Fake) RestartContainer(ctx context.Context, containerID string, _ bool) error {
	if err := f.begin(ctx, "RestartContainer"); err != nil {
		return err
	}
	c, err := f.container(containerID)
	if err != nil {
		return fmt.Errorf("restart container %s: %w", short(containerID), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.Restarts++
	c.State.Status, c.State.StartedAt = "running", time.Now()
	f.wake()
	return nil
}
