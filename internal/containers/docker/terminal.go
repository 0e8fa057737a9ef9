package docker

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/terminal"
)

// Terminal is a terminal for a command in a container.
type Terminal struct {
	// In is what the user types, and Out receives everything that the command writes.
	In  io.Reader
	Out io.Writer
	// Sizes are the sizes of the terminal: the first and every later one. Nil leaves the size to the engine.
	Sizes <-chan terminal.Extent
}

const (
	// neverTyped is a sequence of keys that nobody types. With the engine's default, Ctrl-P Ctrl-Q, the engine would keep each
	// Ctrl-P until the next key, and the sequence would leave the command running without a terminal.
	neverTyped = "ctrl-^,ctrl-],ctrl-^,ctrl-],ctrl-^,ctrl-]"
	// sizePatience is how long an engine may refuse a size because the command has not started yet.
	sizePatience = 5 * time.Second
)

// ExecTerminal implements Client.
func (e *Engine) ExecTerminal(ctx context.Context, containerID string, argv []string, t Terminal) error {
	op := fmt.Sprintf("run %s in container %s", strings.Join(argv, " "), short(containerID))
	created, err := e.api.ContainerExecCreate(ctx, containerID, container.ExecOptions{
		Cmd: argv, AttachStdin: t.In != nil, AttachStdout: true, AttachStderr: true, Tty: true, DetachKeys: neverTyped,
	})
	if err != nil {
		return e.wrap(op, err)
	}
	conn, err := e.api.ContainerExecAttach(ctx, created.ID, container.ExecAttachOptions{Tty: true})
	if err != nil {
		return e.wrap(op, err)
	}
	var resizing sync.WaitGroup
	sizing, stop := context.WithCancel(ctx)
	resizing.Go(func() { e.resize(sizing, created.ID, t.Sizes) })
	err = pump(ctx, conn, t.In, func() error {
		_, err := io.Copy(t.Out, conn.Reader)
		return err
	})
	stop()
	resizing.Wait()
	return e.ended(ctx, op, created.ID, err)
}

// resize passes on the sizes of a terminal until ctx is done. A terminal of the wrong size is no reason to end the command.
func (e *Engine) resize(ctx context.Context, execID string, sizes <-chan terminal.Extent) {
	for sizes != nil {
		select {
		case <-ctx.Done():
			return
		case s, ok := <-sizes:
			if !ok {
				return
			}
			e.setSize(ctx, execID, s)
		}
	}
}

// setSize sets a size, and waits for that until the command has started.
func (e *Engine) setSize(ctx context.Context, execID string, s terminal.Extent) {
	ctx, cancel := context.WithTimeout(ctx, sizePatience)
	defer cancel()
	looks := retry.Backoff{First: 5 * time.Millisecond, Most: 200 * time.Millisecond}
	for e.api.ContainerExecResize(ctx, execID, container.ResizeOptions{Width: uint(max(0, s.Columns)), Height: uint(max(0, s.Rows))}) != nil && looks.Sleep(ctx) {
	}
}
