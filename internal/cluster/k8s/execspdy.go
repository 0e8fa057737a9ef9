package k8s

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/moby/spdystream"
	"golang.org/x/sync/errgroup"
)

// execProtocolV4 is the exec protocol over SPDY: one stream for each channel, and a status at the end.
const execProtocolV4 = "v4.channel.k8s.io"

// headerStreamType is the header that names the content of a stream.
const headerStreamType = "streamType"

// spdyExec is an exec over SPDY, for servers and proxies that do not support WebSockets.
type spdyExec struct {
	conn *spdyConn
	// Streams that the request does not need are nil.
	status, stdin, stdout, stderr, resize *spdystream.Stream
}

func (c *Client) dialExecSPDY(ctx context.Context, u *url.URL, req ExecRequest) (execStream, error) {
	raw, err := c.dialSPDY(ctx, u, execProtocolV4)
	if err != nil {
		return nil, err
	}
	return newSPDYExec(ctx, raw, req)
}

// newSPDYExec takes ownership of raw and starts the command that the URL of its request announced.
func newSPDYExec(ctx context.Context, raw net.Conn, req ExecRequest) (*spdyExec, error) {
	conn, err := newSPDYConn(raw)
	if err != nil {
		return nil, err
	}
	// The server starts the command once it has the streams that the URL announced; the status comes first.
	e := &spdyExec{conn: conn}
	kinds, into := []string{"error", "stdout"}, []**spdystream.Stream{&e.status, &e.stdout}
	if req.Stdin != nil {
		kinds, into = append(kinds, "stdin"), append(into, &e.stdin)
	}
	if req.TTY {
		kinds, into = append(kinds, "resize"), append(into, &e.resize)
	} else {
		kinds, into = append(kinds, "stderr"), append(into, &e.stderr)
	}
	headers := make([]http.Header, len(kinds))
	for i, kind := range kinds {
		headers[i] = http.Header{}
		headers[i].Set(headerStreamType, kind)
	}
	streams, err := conn.open(ctx, headers...)
	if err != nil {
		conn.close()
		return nil, fmt.Errorf("open exec streams: %w", err)
	}
	for i, s := range streams {
		*into[i] = s
	}
	return e, nil
}

func (e *spdyExec) run(ctx context.Context, req ExecRequest) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer e.conn.close()
	defer cancel(nil)
	defer context.AfterFunc(ctx, e.conn.abort)()
	if req.Stdin != nil {
		// run does not wait for this goroutine: it may be blocked in the caller's Read.
		go func() {
			if err := pumpInput(ctx, req.Stdin, spdyInput{e.stdin, e.conn.pulse}); err != nil {
				cancel(err)
			}
		}()
	}
	if e.resize != nil && req.Sizes != nil {
		beside.Go(func() {
			pumpSizes(ctx, req.Sizes, func(m []byte) error {
				_, err := spdyInput{e.resize, e.conn.pulse}.Write(m)
				return err
			})
		})
	}
	var g errgroup.Group
	g.Go(func() error { return e.pump(req.Stdout, e.stdout) })
	if e.stderr != nil {
		g.Go(func() error { return e.pump(req.Stderr, e.stderr) })
	}
	status, err := io.ReadAll(readerOnly{e.status})
	if err := g.Wait(); err != nil {
		return err
	}
	switch {
	case err == nil && len(status) > 0:
		return parseExecStatus(status)
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case e.conn.err() != nil:
		return fmt.Errorf("%w: %w", errNoStatus, e.conn.err())
	}
	return errNoStatus
}

func (e *spdyExec) pump(w io.Writer, s *spdystream.Stream) error {
	if w == nil {
		w = io.Discard
	}
	if _, err := io.Copy(patientWriter{w, e.conn.pulse}, readerOnly{s}); err != nil {
		e.conn.abort()
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// spdyInput is the input stream of an exec, or the stream of its terminal's sizes.
type spdyInput struct {
	*spdystream.Stream
	pulse *pulse
}

func (w spdyInput) Write(p []byte) (int, error) {
	w.pulse.wrote()
	return w.Stream.Write(p)
}

// patientWriter marks the pulse as held during a write: the reader on this side is then the cause of silence.
type patientWriter struct {
	io.Writer
	pulse *pulse
}

func (w patientWriter) Write(p []byte) (int, error) {
	w.pulse.hold()
	defer w.pulse.release()
	return w.Writer.Write(p)
}

// readerOnly hides the other methods of a stream from io.Copy.
type readerOnly struct{ io.Reader }
