package k8s

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// protocol is the protocol that carries a stream.
type protocol string

const (
	protocolWebSocket protocol = "WebSocket"
	protocolSPDY      protocol = "SPDY"
)

// handshakeTimeout bounds the handshake that opens a stream, including the dialling.
const handshakeTimeout = 10 * time.Second

// refusedError is the error when the server does not answer a request for a stream with a stream.
type refusedError struct {
	protocol protocol
	code     int // HTTP status, 0 when the handshake failed otherwise
	cause    error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the server refuses a %s stream: %v", e.protocol, e.cause)
}

func (e *refusedError) Unwrap() error { return e.cause }

// otherMayWork reports whether the server or a proxy has refused this protocol, and whether the other one may work.
// The other one may also work if a proxy on the way cuts the connection. A missing pod is missing in any protocol.
func otherMayWork(err error) (refused, may bool) {
	var r *refusedError
	refused = errors.As(err, &r)
	cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
	return refused, (refused || cut) && !apierrors.IsNotFound(err)
}

// withStream opens a stream by the preferred protocol, or by the other one if the server or a proxy rejects that. From
// then on, the refused protocol is tried last.
func withStream[T any](ctx context.Context, c *Client, prefer protocol, ws, spdy func(context.Context) (T, error)) (T, error) {
	first, second, name := ws, spdy, protocolWebSocket
	if refused := c.refused.Load(); refused == protocolWebSocket || refused == nil && prefer == protocolSPDY {
		first, second, name = spdy, ws, protocolSPDY
	}
	v, err := first(ctx)
	if err == nil || ctx.Err() != nil {
		return v, err
	}
	refused, may := otherMayWork(err)
	if !may {
		return v, err
	}
	v, err2 := second(ctx)
	if err2 == nil {
		if refused {
			c.refused.Store(name)
		}
		return v, nil
	}
	var r *refusedError
	if errors.As(err2, &r) && r.code == 0 {
		return v, err // the server does not support the other protocol: the first error is more helpful
	}
	return v, err2
}

// dialWebSocket opens a WebSocket with one of the given subprotocols. The context bounds the handshake only.
func (c *Client) dialWebSocket(ctx context.Context, u *url.URL, protocols ...string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(quiet(ctx), u.String(), &websocket.DialOptions{
		HTTPClient: c.upgrades, Subprotocols: protocols, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		if resp == nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusSwitchingProtocols {
			return nil, &refusedError{protocol: protocolWebSocket, cause: err}
		}
		return nil, &refusedError{protocol: protocolWebSocket, code: resp.StatusCode, cause: responseError(resp)}
	}
	if conn.Subprotocol() == "" {
		_ = conn.CloseNow()
		return nil, &refusedError{protocol: protocolWebSocket, cause: fmt.Errorf("it supports none of %s", strings.Join(protocols, ", "))}
	}
	conn.SetReadLimit(-1)
	return conn, nil
}

// dialSPDY upgrades an HTTP request to SPDY/3.1 and returns the raw connection. The context bounds the handshake only.
func (c *Client) dialSPDY(ctx context.Context, u *url.URL, protocol string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	var raw net.Conn
	ctx = httptrace.WithClientTrace(quiet(ctx), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { raw = info.Conn },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "SPDY/3.1")
	req.Header.Set("X-Stream-Protocol-Version", protocol)
	resp, err := c.upgrades.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer func() { _ = resp.Body.Close() }()
		return nil, &refusedError{protocol: protocolSPDY, code: resp.StatusCode, cause: responseError(resp)}
	}
	stream, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || raw == nil || !strings.EqualFold(resp.Header.Get("Upgrade"), "SPDY/3.1") {
		_ = resp.Body.Close()
		return nil, &refusedError{protocol: protocolSPDY, cause: errors.New("the connection was not upgraded")}
	}
	return upgradedConn{Conn: raw, stream: stream}, nil
}

// upgradedConn is a connection after its upgrade. Reads first return the bytes that the HTTP client has already
// buffered.
type upgradedConn struct {
	net.Conn
	stream io.ReadWriteCloser
}

func (u upgradedConn) Read(p []byte) (int, error)  { return u.stream.Read(p) }
func (u upgradedConn) Write(p []byte) (int, error) { return u.stream.Write(p) }
func (u upgradedConn) Close() error                { return u.stream.Close() }

// responseError turns an answer that is not an upgrade into an error. It is the API server's own if the body contains
// one.
func responseError(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Kind == "Status" {
		return &apierrors.StatusError{ErrStatus: status}
	}
	text := strings.TrimSpace(string(body))
	if text == "" {
		text = http.StatusText(resp.StatusCode)
	}
	if len(text) > 300 {
		text = text[:300] + " …"
	}
	if resp.StatusCode == http.StatusNotFound {
		// The body is not a Status: keep the reason, which callers check.
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: text,
		}}
	}
	return fmt.Errorf("HTTP %d: %s", resp.StatusCode, text)
}
