package dockertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// Container is a running container of a Fake.
type Container struct {
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
	// State is its state. Fields that Container has itself need not be set in it. An empty Status means running.
	State docker.ContainerState
	// Log is its output.
	Log []Line
}

// AddContainer adds a running container to the engine.
func (f *Fake) AddContainer(id string, c Container) {
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
func (f *Fake) ChangeContainer(id string, change func(*Container)) {
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
func (f *Fake) Container(id string) (Container, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.containers[id]
	if !ok {
		return Container{}, false
	}
	out := *c
	out.Files = maps.Clone(c.Files)
	return out, true
}

// Containers implements Client.
func (f *Fake) Containers(ctx context.Context, labels map[string]string) ([]docker.Container, error) {
	if err := f.begin(ctx, "Containers"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []docker.Container
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
		out = append(out, docker.Container{ID: id, Name: c.Name, Image: c.Image, Labels: maps.Clone(c.Labels)})
	}
	return out, nil
}

func (c *Container) state(id string) docker.ContainerState {
	s := c.State
	s.ID, s.Name, s.Image, s.Labels = id, c.Name, c.Image, maps.Clone(c.Labels)
	s.Status = cmp.Or(s.Status, "running")
	return s
}

// ContainerStates implements Client.
func (f *Fake) ContainerStates(ctx context.Context, labels map[string]string) ([]docker.ContainerState, error) {
	if err := f.begin(ctx, "ContainerStates"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []docker.ContainerState
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

// ContainerChanges implements Client.
func (f *Fake) ContainerChanges(ctx context.Context, containerID string) ([]string, error) {
	if err := f.begin(ctx, "ContainerChanges"); err != nil {
		return nil, err
	}
	c, err := f.container(containerID)
	if err != nil {
		return nil, fmt.Errorf("compare container %s with its image: %w", containerID, err)
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
		return fmt.Errorf("remove container %s: %w", containerID, err)
	}
	f.DropContainer(containerID)
	return nil
}

func (f *Fake) container(id string) (*Container, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.containers[id]
	if !ok {
		return nil, fmt.Errorf("no such container: %s: %w", id, cerrdefs.ErrNotFound)
	}
	return c, nil
}

// RestartContainer implements Client.
func (f *Fake) RestartContainer(ctx context.Context, containerID string, _ bool) error {
	if err := f.begin(ctx, "RestartContainer"); err != nil {
		return err
	}
	c, err := f.container(containerID)
	if err != nil {
		return fmt.Errorf("restart container %s: %w", containerID, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.Restarts++
	c.State.Status, c.State.StartedAt = "running", time.Now()
	f.wake()
	return nil
}
