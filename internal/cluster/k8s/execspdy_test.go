package k8s

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/moby/spdystream"
)

// halfGone is a connection whose server has closed it, once gone is set: writes fail, and data that was sent before is still read.
type halfGone struct {
	net.Conn
	gone atomic.Bool
	// failed is called when a write has failed.
	failed func()
}

func (c *halfGone) Write(p []byte) (int, error) {
	if c.gone.Load() {
		c.failed()
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return c.Conn.Write(p)
}

// atEnd is an input without content. ended is called before its end is seen.
type atEnd struct{ ended func() }

func (r atEnd) Read([]byte) (int, error) {
	r.ended()
	return 0, io.EOF
}

// TestExitCodeAfterBrokenInput: a command that ends without reading its input may be gone when the end of the input is sent. Its
// exit code is known anyway.
func TestExitCodeAfterBrokenInput(t *testing.T) {
	near, far := net.Pipe()
	failed := make(chan struct{})
	conn := &halfGone{Conn: near, failed: sync.OnceFunc(func() { close(failed) })}
	server, err := spdystream.NewConnection(far, true)
	if err != nil {
		t.Fatal(err)
	}
	streams := make(chan *spdystream.Stream, 4)
	go server.Serve(func(st *spdystream.Stream) { _ = st.SendReply(http.Header{}, false); streams <- st })
	req := ExecRequest{Stdin: atEnd{func() { conn.gone.Store(true) }}}
	exec, err := newSPDYExec(t.Context(), conn, req)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		<-failed
		for range 4 {
			st := <-streams
			if st.Headers().Get(headerStreamType) == "error" {
				_, _ = io.WriteString(st, `{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`)
			}
			_ = st.Close()
		}
	}()
	err = exec.run(t.Context(), req)
	if exit := (*ExitError)(nil); !errors.As(err, &exit) || exit.Code != 3 {
		t.Errorf("the command ended with: %v", err)
	}
	_ = far.Close()
	<-served
}
