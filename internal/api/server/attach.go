package server

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/terminal"
)

// attach turns the connections of requests into terminals for the session's screen.
func (s *Subscriber) attach(readOnly bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.attachTerminal(w, r, readOnly) }
}

func (s *Subscriber) attachTerminal(w http.ResponseWriter, r *http.Request, readOnly bool) {
	switch {
	case s.options.Attach == nil:
		fail(w, http.StatusConflict, "this session has no screen to attach to")
		return
	case !strings.EqualFold(r.Header.Get("Upgrade"), terminal.Protocol) || !hasToken(r.Header.Get("Connection"), "upgrade"):
		w.Header().Set("Upgrade", terminal.Protocol)
		fail(w, http.StatusUpgradeRequired, "request an upgrade of the connection to "+terminal.Protocol)
		return
	}
	// The body of the request must not be mistaken for typed input.
	if _, err := access.Body(w, r, maxBody); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	s.attached.Add(1)
	defer s.attached.Done()
	defer c.Close()
	_ = c.SetDeadline(time.Time{})
	if _, err := c.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + terminal.Protocol + "\r\n\r\n")); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	// A terminal that blocks in a read does not notice the end of the session.
	defer context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })()
	if err := s.options.Attach(ctx, newUpgraded(c, buffered.Reader), readOnly); err != nil && ctx.Err() == nil {
		s.options.Log.Info("an attached screen ended", "error", err)
	}
}

// hasToken reports whether a comma-separated header names a token.
func hasToken(header, token string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if strings.EqualFold(strings.TrimSpace(part), token) {
			return true
		}
	}
	return false
}

// upgraded is a connection from which some bytes have already been read.
type upgraded struct {
	net.Conn
	r *bufio.Reader
}

// newUpgraded returns a connection that begins with the bytes that a reader has buffered. The reader itself is no longer used:
// it ends the request when a deadline passes.
func newUpgraded(c net.Conn, from *bufio.Reader) *upgraded {
	early, _ := from.Peek(from.Buffered())
	return &upgraded{c, bufio.NewReader(io.MultiReader(bytes.NewReader(early), c))}
}

// Read implements net.Conn.
func (u *upgraded) Read(b []byte) (int, error) { return u.r.Read(b) }
