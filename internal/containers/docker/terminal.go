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
	// In is the user's input, and Out receives everything that the command writes.
	In  io.Reader
	Out io.Writer
	// Sizes are the sizes of the terminal: the first and every later one. Nil leaves the size to the engine.
	Sizes <-chan terminal.Extent
}

const (
	// neverTyped is a sequence of keys that no user types. With the engine's default, Ctrl-P Ctrl-Q, the engine would keep each Ctrl-P
	// until the next key, and the sequence would leave the command running without a terminal.
	neverTyped = "ctrl-^,ctrl-],ctrl-^,ctrl-],ctrl-^,ctrl-]"
	// sizePatience is the time for which an engine may refuse a size because the command has not started yet.
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
	in, sized := t.In, func() {}
	if t.In != nil && t.Sizes != nil {
		held := &heldInput{in: t.In, free: make(chan struct{})}
		in, sized = held, held.release
	}
	resizing.Go(func() { e.resize(sizing, created.ID, t.Sizes, sized) })
	err = pump(ctx, conn, in, func() error {
		_, err := io.Copy(t.Out, conn.Reader)
		return err
	})
	stop()
	resizing.Wait()
	return e.ended(ctx, op, created.ID, err)
}

// heldInput is the user's input, held back until release. Sizes travel over another connection: if input overtook the first size, a
// program would answer it on a terminal without a size. The input is read meanwhile, because the first Read may be the one that
// makes the user's terminal raw.
type heldInput struct {
	in   io.Reader
	free chan struct{}
	once sync.Once
}

var _ io.ReadCloser = (*heldInput)(nil)

// Read implements io.Reader.
func (h *heldInput) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	<-h.free
	return n, err
}

// Close implements io.Closer: it releases a Read, and closes the input if that can be closed.
func (h *heldInput) Close() error {
	h.release()
	if c, ok := h.in.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (h *heldInput) release() { h.once.Do(func() { close(h.free) }) }

// resize passes on the sizes of a terminal until ctx is done, and calls sized after the first. A terminal of the wrong size is no
// reason to end the command.
func (e *Engine) resize(ctx context.Context, execID string, sizes <-chan terminal.Extent, sized func()) {
	defer sized()
	for sizes != nil {
		select {
		case <-ctx.Done():
			return
		case s, ok := <-sizes:
			if !ok {
				return
			}
			e.setSize(ctx, execID, s)
			sized()
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
