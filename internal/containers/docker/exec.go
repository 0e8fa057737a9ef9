package docker

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/hone-dev/hone/internal/base/retry"
)

// ContainerExec implements Client.
func (e *Engine) ContainerExec(ctx context.Context, containerID string, argv []string, stdin io.Reader, out io.Writer) error {
	return e.Exec(ctx, containerID, argv, stdin, out, out)
}

// Exec implements Client.
func (e *Engine) Exec(ctx context.Context, containerID string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	op := fmt.Sprintf("run %s in container %s", strings.Join(argv, " "), short(containerID))
	created, err := e.api.ContainerExecCreate(ctx, containerID, container.ExecOptions{
		Cmd: argv, AttachStdin: stdin != nil, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return e.wrap(op, err)
	}
	conn, err := e.api.ContainerExecAttach(ctx, created.ID, container.ExecAttachOptions{})
	if err != nil {
		return e.wrap(op, err)
	}
	if stdout == nil {
		stdout = io.Discard
	}
	if stderr == nil {
		stderr = io.Discard
	}
	err = pump(ctx, conn, stdin, func() error {
		_, err := stdcopy.StdCopy(stdout, stderr, conn.Reader)
		return err
	})
	return e.ended(ctx, op, created.ID, err)
}

// ended returns the error for the end of a command whose output was copied with err.
func (e *Engine) ended(ctx context.Context, op, execID string, err error) error {
	code := 0
	if err == nil {
		code, err = e.exitCode(ctx, execID)
	}
	if err != nil {
		return e.wrap(op, err)
	}
	if code != 0 {
		return &ExitError{Code: code}
	}
	return nil
}

// pump copies stdin, and the output with copyOut, until the process has closed its output or ctx ends, and closes conn.
func pump(ctx context.Context, conn types.HijackedResponse, stdin io.Reader, copyOut func() error) error {
	stop := afterFunc(ctx, conn.Close)
	defer stop()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		if stdin == nil {
			return
		}
		if _, err := io.Copy(conn.Conn, stdin); err == nil {
			_ = conn.CloseWrite() // it may fail if the process has ended already
		}
	}()
	err := copyOut()
	conn.Close()
	if c, ok := stdin.(io.Closer); ok {
		_ = c.Close() // releases a copy that waits for more input
	}
	<-fed
	return ctxOr(ctx, err)
}

// exitCode waits until the engine notices the end of a process whose output has ended. That takes a moment.
func (e *Engine) exitCode(ctx context.Context, execID string) (int, error) {
	looks := retry.Backoff{First: time.Millisecond, Most: 100 * time.Millisecond}
	for {
		state, err := e.api.ContainerExecInspect(ctx, execID)
		if err != nil {
			return 0, err
		}
		if !state.Running {
			return state.ExitCode, nil
		}
		if !looks.Sleep(ctx) {
			return 0, ctx.Err()
		}
	}
}

// CopyTo implements Client.
func (e *Engine) CopyTo(ctx context.Context, containerID, dir string, tar io.Reader) error {
	body := &lentReader{r: tar}
	err := e.api.CopyToContainer(ctx, containerID, dir, body, container.CopyToContainerOptions{})
	body.giveBack()
	return e.wrap(fmt.Sprintf("copy files to %s in container %s", dir, short(containerID)), err)
}

// Entry implements Client. Of a folder or a large file, the engine sends little more than the header before the connection ends.
func (e *Engine) Entry(ctx context.Context, containerID, path string) (*tar.Header, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	step := fmt.Sprintf("look at %s in container %s", path, short(containerID))
	archive, _, err := e.api.CopyFromContainer(ctx, containerID, path)
	if IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, e.wrap(step, err)
	}
	defer archive.Close()
	h, err := tar.NewReader(archive).Next()
	return h, e.wrap(step, err)
}

// RestartContainer implements Client.
func (e *Engine) RestartContainer(ctx context.Context, containerID string, gently bool) error {
	now := 0
	grace := &now
	if gently {
		grace = nil
	}
	err := e.agree(ctx)
	if err != nil {
		return e.wrap("restart container "+short(containerID), err)
	}
	err = e.api.ContainerRestart(ctx, containerID, container.StopOptions{Timeout: grace})
	return e.wrap("restart container "+short(containerID), err)
}

// short cuts an id to the length that "docker ps" shows.
func short(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}

// lentReader lends a reader to the HTTP client, which may still read a request's body after the answer has come.
type lentReader struct {
	mu   sync.Mutex
	r    io.Reader
	back bool
}

// Read implements io.Reader.
func (l *lentReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.back {
		return 0, io.ErrClosedPipe
	}
	return l.r.Read(p)
}

// giveBack waits for a pending Read and makes all later ones fail.
func (l *lentReader) giveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.back = true
}
