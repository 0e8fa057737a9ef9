package k8s

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/moby/spdystream"
)

const (
	// streamTimeout bounds the wait for the server to accept a stream.
	streamTimeout = 5 * time.Second
	// closedGrace bounds the processing of frames that arrived before the end of a connection.
	closedGrace = 250 * time.Millisecond
	// writeTimeout is the time for which a write to the server may block before the connection counts as dead. Until then the
	// cause is taken to be a program that does not read.
	writeTimeout = pingPatience
)

// errTunnelClosed is the reason for connections that this side closed.
var errTunnelClosed = errors.New("the connection to the pod was closed")

// spdyConn is a SPDY connection on which this side opens all streams.
type spdyConn struct {
	raw    net.Conn
	spdy   *spdystream.Connection
	pulse  *pulse
	cancel context.CancelFunc
	wg     sync.WaitGroup
	asked  chan error // the answer to the pending ping, if any; used by the goroutine of pulse.check

	mu      sync.Mutex
	streams map[*spdystream.Stream]struct{} // guarded by mu
	failure error                           // guarded by mu; why the connection ended
}

// newSPDYConn takes ownership of raw and serves it until close.
func newSPDYConn(raw net.Conn) (*spdyConn, error) {
	s := &spdyConn{raw: raw, pulse: newPulse(spdystream.FRAME_WORKERS), streams: map[*spdystream.Stream]struct{}{}}
	conn, err := spdystream.NewConnection(watchedConn{raw, s, &spdyFrames{}}, false)
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("set up SPDY: %w", err)
	}
	s.spdy = conn
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.Background()) // ends with close, not with the call that dialed
	s.wg.Go(func() {
		conn.Serve(func(st *spdystream.Stream) { _ = st.Refuse() })
		s.fail(errors.New("the server closed the connection"))
		s.cancel()
	})
	s.wg.Go(func() {
		if err := s.pulse.check(ctx, s.ping); err != nil {
			s.fail(err)
			s.abort()
		}
	})
	return s, nil
}

// ping sends a ping to the server and waits for the answer. spdystream's Ping itself ends only with its connection, so
// after a timeout the next call continues to wait for the same ping. Only one goroutine may call it at a time.
func (s *spdyConn) ping(ctx context.Context) error {
	if s.asked == nil {
		answer := make(chan error, 1)
		go func() {
			_, err := s.spdy.Ping()
			answer <- err
		}()
		s.asked = answer
	}
	select {
	case err := <-s.asked:
		s.asked = nil
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open creates streams, in order, and waits until the server has accepted all of them.
func (s *spdyConn) open(ctx context.Context, headers ...http.Header) ([]*spdystream.Stream, error) {
	streams := make([]*spdystream.Stream, 0, len(headers))
	accepted := make(chan error, len(headers))
	for _, h := range headers {
		st, err := s.spdy.CreateStream(h, nil, false)
		if st != nil {
			s.add(st)
			streams = append(streams, st)
		}
		if err != nil {
			s.discard(streams...)
			return nil, s.reason(err)
		}
		go func() { accepted <- st.WaitTimeout(streamTimeout) }()
	}
	for range headers {
		var err error
		select {
		case err = <-accepted:
		case <-s.spdy.CloseChan():
			// The server may accept a stream and close at once, if the command is short: check the answers that have
			// arrived.
			err = s.lastAnswer(accepted)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			s.discard(streams...)
			return nil, s.reason(err)
		}
	}
	return streams, nil
}

// lastAnswer returns the answer about a stream if one arrived before the connection was closed.
func (s *spdyConn) lastAnswer(accepted <-chan error) error {
	timer := time.NewTimer(closedGrace)
	defer timer.Stop()
	select {
	case err := <-accepted:
		return err
	case <-timer.C:
		return errTunnelClosed
	}
}

// add records a stream, so that close can release a worker of spdystream that waits for a reader.
func (s *spdyConn) add(st *spdystream.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[st] = struct{}{}
}

// discard ends streams in both directions and forgets them.
func (s *spdyConn) discard(streams ...*spdystream.Stream) {
	s.mu.Lock()
	for _, st := range streams {
		delete(s.streams, st)
	}
	s.mu.Unlock()
	for _, st := range streams {
		_ = st.Reset()
	}
}

// fail records why the connection ended; the first reason stays.
func (s *spdyConn) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		s.failure = err
	}
}

// err returns why the connection ended, or nil while it is up.
func (s *spdyConn) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// reason returns why the connection ended, or err while it is up.
func (s *spdyConn) reason(err error) error {
	if cause := s.err(); cause != nil {
		return cause
	}
	return err
}

// alive reports whether the connection is up, as far as known.
func (s *spdyConn) alive() bool {
	select {
	case <-s.spdy.CloseChan():
		return false
	default:
		return s.err() == nil
	}
}

// abort ends the connection immediately, without waiting.
func (s *spdyConn) abort() {
	s.fail(errTunnelClosed)
	_ = s.raw.Close()
	s.mu.Lock()
	streams := make([]*spdystream.Stream, 0, len(s.streams))
	for st := range s.streams {
		streams = append(streams, st)
	}
	s.mu.Unlock()
	s.discard(streams...)
}

// close ends the connection and waits for its goroutines.
func (s *spdyConn) close() {
	s.cancel()
	s.abort()
	s.wg.Wait()
}

// watchedConn records when data arrives, and ends the connection when a write fails or blocks for too long: a partly written
// frame cannot be completed. A write to a connection that the server has closed only fails: the data that the server sent
// before, such as the exit status of a command that did not read its input, is still read, and then the reading ends by
// itself.
//
// It writes frames as a whole. spdystream writes one at a time, in several pieces, and each would become a TLS record and a packet, or a
// message of the WebSocket that carries a tunnel.
type watchedConn struct {
	net.Conn
	owner  *spdyConn
	frames *spdyFrames
}

func (w watchedConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.owner.pulse.heard()
	}
	if err != nil {
		w.owner.fail(fmt.Errorf("the connection to the server was lost: %w", err))
	}
	return n, err
}

// Close closes the connection, which abort may have closed already. It returns no error, because spdystream would wait
// a second for a reader of that error.
func (w watchedConn) Close() error {
	_ = w.Conn.Close()
	return nil
}

func (w watchedConn) Write(p []byte) (int, error) {
	whole := w.frames.add(p)
	if len(whole) == 0 {
		return len(p), nil
	}
	if err := w.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	_, err := w.Conn.Write(whole)
	if err != nil {
		w.owner.fail(fmt.Errorf("the connection to the server was lost: %w", err))
		if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			_ = w.Close()
		}
		return 0, err
	}
	return len(p), nil
}
