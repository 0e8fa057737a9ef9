package client

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/terminal"
)

// Attach opens the session's screen for a terminal, or one that cannot change the session. The connection must be closed.
func (c *Client) Attach(ctx context.Context, d terminal.Description, readOnly bool) (*terminal.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	path := "/api/attach"
	if readOnly {
		path += "/read-only" // which a session that does not know of it refuses
	}
	req, err := c.request(ctx, http.MethodPost, path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", terminal.Protocol)
	if err := c.knock(ctx); err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx, "tcp", c.base().Host)
	if err != nil {
		return nil, c.silent(ctx, err)
	}
	t, err := c.upgrade(ctx, conn, req)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if err := t.SendHello(d); err != nil {
		_ = conn.Close()
		if _, ok := problem.Of(err); ok {
			return nil, err // of the description, which was not sent
		}
		return nil, c.silent(ctx, err)
	}
	return t, nil
}

// upgrade turns a connection into a terminal connection.
func (c *Client) upgrade(ctx context.Context, conn net.Conn, req *http.Request) (*terminal.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if err := req.Write(conn); err != nil {
		return nil, c.silent(ctx, err)
	}
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return nil, c.silent(ctx, err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return nil, c.refused(resp)
	}
	if got := resp.Header.Get("Upgrade"); got != terminal.Protocol {
		return nil, fmt.Errorf("%s speaks %q instead of %s", c.Where(), got, terminal.Protocol)
	}
	_ = conn.SetDeadline(time.Time{})
	return terminal.NewConn(&buffered{conn, in}), nil
}

// buffered is a connection from which some bytes have already been read.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

// Read implements net.Conn.
func (b *buffered) Read(p []byte) (int, error) { return b.in.Read(p) }
