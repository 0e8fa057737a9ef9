package k8s

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/moby/spdystream"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/pkg/model"
)

// execServer is an API server that supports only exec: every command copies its input to its output.
type execServer struct {
	noWebSocket, noSPDY, cutsSPDY bool
	mu                            sync.Mutex
	tried                         []string // guarded by mu
}

func (s *execServer) client(t *testing.T) *Client {
	t.Helper()
	srv := httptest.NewServer(s)
	c, err := newClient(&rest.Config{Host: srv.URL}, model.Cluster{Context: "test", Server: srv.URL, Namespace: "ns"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); srv.CloseClientConnections(); srv.Close() })
	return c
}

func (s *execServer) note(protocol string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried = append(s.tried, protocol)
}

func (s *execServer) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tried := strings.Join(s.tried, " ")
	s.tried = nil
	return tried
}

func (s *execServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isWebSocket := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	protocol := "SPDY"
	if isWebSocket {
		protocol = "WebSocket"
	}
	s.note(protocol)
	switch {
	case strings.Contains(r.URL.Path, "/nobody/"):
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":"pods \"nobody\" not found"}`)
	case isWebSocket && s.noWebSocket, !isWebSocket && s.noSPDY:
		http.Error(w, "no "+protocol+" here", http.StatusForbidden)
	case isWebSocket:
		serveWebSocketExec(w, r)
	case s.cutsSPDY:
		panic(http.ErrAbortHandler)
	default:
		serveSPDYExec(w)
	}
}

const succeeded = `{"status":"Success"}`

func serveWebSocketExec(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{execProtocolV5}})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	for {
		_, msg, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if msg[0] == channelClose {
			break
		}
		msg[0] = channelStdout
		_ = conn.Write(r.Context(), websocket.MessageBinary, msg)
	}
	_ = conn.Write(r.Context(), websocket.MessageBinary, append([]byte{channelStatus}, succeeded...))
	_ = conn.Close(websocket.StatusNormalClosure, "")
}

func serveSPDYExec(w http.ResponseWriter) {
	w.Header().Set("Connection", "Upgrade")
	w.Header().Set("Upgrade", "SPDY/3.1")
	w.WriteHeader(http.StatusSwitchingProtocols)
	raw, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = raw.Close() }()
	conn, err := spdystream.NewConnection(bufferedConn{raw, buffered.Reader}, true)
	if err != nil {
		return
	}
	streams := make(chan *spdystream.Stream, 4)
	go conn.Serve(func(st *spdystream.Stream) { _ = st.SendReply(http.Header{}, false); streams <- st })
	byType := map[string]*spdystream.Stream{}
	for range 4 {
		select {
		case st := <-streams:
			byType[st.Headers().Get(headerStreamType)] = st
		case <-conn.CloseChan():
			return
		}
	}
	_, _ = io.Copy(struct{ io.Writer }{byType["stdout"]}, struct{ io.Reader }{byType["stdin"]})
	_, _ = io.WriteString(byType["error"], succeeded)
	for _, kind := range []string{"stdout", "stderr", "error"} {
		_ = byType[kind].Close()
	}
	<-conn.CloseChan()
}

// bufferedConn first returns the bytes that the HTTP server has already read.
type bufferedConn struct {
	net.Conn
	r io.Reader
}

func (c bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

func echoExec(ctx context.Context, c *Client, req ExecRequest, text string) (string, error) {
	var out bytes.Buffer
	req.Argv, req.Stdin, req.Stdout = []string{"cat"}, strings.NewReader(text), &out
	err := c.Exec(ctx, req)
	return out.String(), err
}

func TestExecFallsBack(t *testing.T) {
	tests := []struct {
		name          string
		quick         bool
		server        *execServer
		first, second string // the protocols that the first and the second exec try
	}{
		{"both", false, &execServer{}, "WebSocket", "WebSocket"},
		{"SPDY only", false, &execServer{noWebSocket: true}, "WebSocket SPDY", "SPDY"},
		{"quick: both", true, &execServer{}, "SPDY", "SPDY"},
		{"quick: SPDY only", true, &execServer{noWebSocket: true}, "SPDY", "SPDY"},
		{"quick: WebSocket only", true, &execServer{noSPDY: true}, "SPDY WebSocket", "WebSocket"},
		{"quick: SPDY cut", true, &execServer{cutsSPDY: true}, "SPDY WebSocket", "SPDY WebSocket"}, // the next time, it may have been chance
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.server.client(t)
			for _, want := range []string{tt.first, tt.second} {
				text := strings.Repeat("hello ", 50_000)
				if got, err := echoExec(t.Context(), c, ExecRequest{Pod: "p", Quick: tt.quick}, text); got != text || err != nil {
					t.Fatalf("%d bytes came back, %v", len(got), err)
				}
				if tried := tt.server.take(); tried != want {
					t.Errorf("tried %q, want %q", tried, want)
				}
			}
		})
	}
}

func TestExecReturnsToWebSocket(t *testing.T) {
	s := &execServer{noSPDY: true}
	c := s.client(t)
	c.refused.Store(protocolWebSocket)
	if got, err := echoExec(t.Context(), c, ExecRequest{Pod: "p"}, "x"); got != "x" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	if tried := s.take(); tried != "SPDY WebSocket" || c.refused.Load() != protocolSPDY {
		t.Errorf("tried %q, refused: %v", tried, c.refused.Load())
	}
}

// TestCertainExec checks that Certain never uses a WebSocket, whatever worked before, and does not affect the choice
// for other execs.
func TestCertainExec(t *testing.T) {
	for _, s := range []*execServer{{}, {noWebSocket: true}, {noSPDY: true}} {
		c := s.client(t)
		var out bytes.Buffer
		err := c.Exec(t.Context(), ExecRequest{Pod: "p", Argv: []string{"cat"}, Stdin: strings.NewReader("x"), Stdout: &out, Certain: true})
		if tried := s.take(); tried != "SPDY" || c.refused.Load() != nil {
			t.Errorf("tried %q, refused: %v", tried, c.refused.Load())
		}
		if (err != nil) != s.noSPDY || (out.String() == "x") == s.noSPDY {
			t.Errorf("without SPDY %v: %q, %v", s.noSPDY, out.String(), err)
		}
	}
}

func TestExecRefused(t *testing.T) {
	s := &execServer{noWebSocket: true, noSPDY: true}
	c := s.client(t)
	_, err := echoExec(t.Context(), c, ExecRequest{Pod: "p"}, "x")
	if err == nil || !strings.Contains(err.Error(), "exec in pod ns/p") || !strings.Contains(err.Error(), "no SPDY here") {
		t.Errorf("got %v", err)
	}
	s.take()
	if _, err := echoExec(t.Context(), c, ExecRequest{Pod: "nobody"}, "x"); !apierrors.IsNotFound(err) {
		t.Errorf("missing pod: %v", err)
	}
	if tried := s.take(); tried != "WebSocket" {
		t.Errorf("a missing pod was looked for by %q", tried)
	}
}

func TestExecBadStreams(t *testing.T) {
	boom := errors.New("boom")
	for _, noWebSocket := range []bool{false, true} {
		s := &execServer{noWebSocket: noWebSocket}
		c := s.client(t)
		err := c.Exec(t.Context(), ExecRequest{Pod: "p", Argv: []string{"cat"}, Stdin: failing{boom}})
		if !errors.Is(err, boom) {
			t.Errorf("input that cannot be read: %v", err)
		}
		err = c.Exec(t.Context(), ExecRequest{Pod: "p", Argv: []string{"cat"}, Stdin: strings.NewReader("x"), Stdout: failing{boom}})
		if !errors.Is(err, boom) {
			t.Errorf("output that cannot be written: %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }
