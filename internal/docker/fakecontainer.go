package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
)

// FakeContainer is a running container of a Fake.
type FakeContainer struct {
	Name   string
	Image  string
	Labels map[string]string
	// Files maps absolute paths to contents.
	Files map[string]string
	// Exec, when not nil, runs commands; it returns the exit code. Without it the container knows true, false, echo, cat
	// and "sh -c" with exit, true and false.
	Exec func(ctx context.Context, argv []string, stdin io.Reader, out io.Writer) int
	// Restarts counts calls of RestartContainer.
	Restarts int
}

// AddContainer puts a running container into the engine.
func (f *Fake) AddContainer(id string, c FakeContainer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.Files = maps.Clone(c.Files)
	if c.Files == nil {
		c.Files = map[string]string{}
	}
	f.containers[id] = &c
}

// Container returns a copy of the container's present state.
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
		out = append(out, Container{ID: id, Name: c.Name, Image: c.Image, Labels: maps.Clone(c.Labels)})
	}
	return out, nil
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

// shell runs the few commands that a container without Exec knows.
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
		f.mu.Unlock()
	}
}

// RestartContainer implements Client.
func (f *Fake) RestartContainer(ctx context.Context, containerID string) error {
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
	return nil
}
