package k8s

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"

	"github.com/coder/websocket"
)

// execProtocolV5 is the exec protocol over WebSockets: one byte names the channel, and each channel can be closed on
// its own.
const execProtocolV5 = "v5.channel.k8s.io"

// The channels of the exec protocol.
const (
	channelStdin  = 0
	channelStdout = 1
	channelStderr = 2
	channelStatus = 3
	channelResize = 4
	channelClose  = 255
)

// stdinBuffer is the largest size of one input message, in bytes.
const stdinBuffer = 64 << 10

// errNoStatus is the error of an exec connection that ended before the server sent the command's status.
var errNoStatus = errors.New("the connection was lost before the command ended")

// wsExec is an exec over a WebSocket.
type wsExec struct {
	conn  *websocket.Conn
	pulse *pulse
}

func (c *Client) dialExecWebSocket(ctx context.Context, u *url.URL) (execStream, error) {
	conn, err := c.dialWebSocket(ctx, u, execProtocolV5)
	if err != nil {
		return nil, err
	}
	return &wsExec{conn: conn, pulse: newPulse(1)}, nil
}

func (e *wsExec) run(ctx context.Context, req ExecRequest) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() { _ = e.conn.CloseNow() }()
	defer cancel(nil)
	if req.Stdin != nil {
		// run does not wait for this goroutine: it may be blocked in the caller's Read.
		go func() {
			if err := pumpInput(ctx, req.Stdin, wsInput{ctx, e}); err != nil {
				cancel(err)
			}
		}()
	}
	var beside sync.WaitGroup
	beside.Go(func() {
		if err := e.pulse.check(ctx, e.conn.Ping); err != nil {
			cancel(err)
		}
	})
	if req.TTY && req.Sizes != nil {
		beside.Go(func() { pumpSizes(ctx, req.Sizes, func(m []byte) error { return e.send(ctx, channelResize, m) }) })
	}
	err := e.pumpOutput(ctx, req)
	if errors.Is(err, errNoStatus) && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	beside.Wait()
	return err
}

// send sends a message on a channel.
func (e *wsExec) send(ctx context.Context, channel byte, content []byte) error {
	msg := make([]byte, 1+len(content))
	msg[0] = channel
	copy(msg[1:], content)
	e.pulse.wrote()
	return e.conn.Write(ctx, websocket.MessageBinary, msg)
}

// wsInput is the input channel of an exec.
type wsInput struct {
	ctx context.Context
	*wsExec
}

// Write sends p as one message.
func (w wsInput) Write(p []byte) (int, error) { return len(p), w.send(w.ctx, channelStdin, p) }

// Close ends the input of the command.
func (w wsInput) Close() error {
	return w.conn.Write(w.ctx, websocket.MessageBinary, []byte{channelClose, channelStdin})
}

// pumpInput copies the input to its end and closes to. It returns an error only when the input cannot be read: the
// goroutine that reads from the connection reports why it broke.
func pumpInput(ctx context.Context, stdin io.Reader, to io.WriteCloser) error {
	buf := make([]byte, stdinBuffer)
	for {
		n, err := stdin.Read(buf)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the input has not failed
		}
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				return nil //nolint:nilerr // the reading goroutine reports why the connection broke
			}
		}
		if errors.Is(err, io.EOF) {
			_ = to.Close()
			return nil
		}
		if err != nil {
			return fmt.Errorf("read input: %w", err)
		}
	}
}

// pumpOutput distributes the output to its writers until the final status arrives or the connection ends.
func (e *wsExec) pumpOutput(ctx context.Context, req ExecRequest) error {
	var status []byte
	buf := make([]byte, 32<<10)
	for {
		_, r, err := e.conn.Reader(ctx)
		if err != nil {
			if len(status) > 0 {
				return parseExecStatus(status)
			}
			if code := websocket.CloseStatus(err); code == websocket.StatusNormalClosure {
				return errNoStatus
			}
			return fmt.Errorf("%w: %w", errNoStatus, err)
		}
		e.pulse.heard()
		if _, err := io.ReadFull(r, buf[:1]); err != nil {
			continue // an empty message carries nothing
		}
		var out io.Writer
		switch buf[0] {
		case channelStdout:
			out = req.Stdout
		case channelStderr:
			out = req.Stderr
		case channelStatus:
			part, err := io.ReadAll(r)
			if err != nil {
				return fmt.Errorf("%w: %w", errNoStatus, err)
			}
			status = append(status, part...)
			continue
		}
		if out == nil {
			out = io.Discard
		}
		e.pulse.hold()
		err = copyMessage(out, r, buf)
		e.pulse.release()
		if err != nil {
			return err
		}
	}
}

func copyMessage(w io.Writer, r io.Reader, buf []byte) error {
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return fmt.Errorf("write output: %w", werr)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNoStatus, err)
		}
	}
}
