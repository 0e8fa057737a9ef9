package synclet

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	// askAfter is the silence after which the synclet is pinged, and answerWithin the time limit for its answer. Together they
	// bound the time for which a dead connection or a stopped container goes unnoticed, whether a request is running or not.
	askAfter     = 10 * time.Second
	answerWithin = askAfter
	// piece is the number of bytes that are written at a time; a piece that was accepted is a sign of life.
	piece = 64 << 10
)

// ErrSilent means that a conversation was ended because its stream was silent for too long: the connection to the container is
// dead, or the container is stopped.
var ErrSilent = errors.New("the synclet stopped answering")

// livingStream notes when something last moved on a stream, in either direction. A slow connection that still moves data
// keeps a conversation alive, however long an update takes.
type livingStream struct {
	io.ReadWriteCloser
	began time.Time
	moved atomic.Int64 // when something did, in nanoseconds since began
}

func newLivingStream(rwc io.ReadWriteCloser) *livingStream {
	return &livingStream{ReadWriteCloser: rwc, began: time.Now()}
}

// now is the time on the stream's clock, which is monotonic.
func (l *livingStream) now() time.Duration  { return time.Since(l.began) }
func (l *livingStream) last() time.Duration { return time.Duration(l.moved.Load()) }
func (l *livingStream) sign()               { l.moved.Store(int64(l.now())) }

// Read implements io.Reader.
func (l *livingStream) Read(p []byte) (int, error) {
	n, err := l.ReadWriteCloser.Read(p)
	if n > 0 {
		l.sign()
	}
	return n, err
}

// Write implements io.Writer. The last piece is no sign of life: the transport accepts a little data even when the other
// end is gone.
func (l *livingStream) Write(p []byte) (int, error) {
	var n int
	for len(p) > piece {
		m, err := l.ReadWriteCloser.Write(p[:piece])
		if n += m; err != nil {
			return n, err
		}
		l.sign()
		p = p[piece:]
	}
	m, err := l.ReadWriteCloser.Write(p)
	return n + m, err
}

// watch ends the conversation when the stream has been silent for too long.
func (s *Conversation) watch() {
	timer := time.NewTimer(askAfter)
	defer timer.Stop()
	var asked time.Duration // when the ping was sent, while its answer is pending
	for {
		select {
		case <-s.done:
			return
		case <-timer.C:
		}
		now, last := s.stream.now(), s.stream.last()
		switch {
		case asked > 0 && last < asked:
			s.cut(fmt.Errorf("%w: no sign of it for %s", ErrSilent, (now - last).Round(time.Second)))
			return
		case now-last < askAfter:
			asked = 0
			timer.Reset(askAfter - (now - last))
		default:
			asked = now
			s.all.Go(s.ask)
			timer.Reset(answerWithin)
		}
	}
}

// ask requests a sign of life, unless a write is running, whose progress is one.
func (s *Conversation) ask() {
	if !s.wmu.TryLock() {
		return
	}
	defer s.wmu.Unlock()
	s.w.Append(&protocol.Ping{})
	_ = s.flush() // the reader reports how the stream ended
}

// flushBulk writes a part of a big update and a ping after it: the answer shows how far the synclet has come through the
// data buffered on the way. wmu must be held.
func (s *Conversation) flushBulk() error {
	s.w.Append(&protocol.Ping{})
	return s.flush()
}

// cut ends the conversation for a reason on this side.
func (s *Conversation) cut(why error) {
	s.mu.Lock()
	if s.why == nil {
		s.why = why
	}
	s.mu.Unlock()
	_ = s.stream.Close()
}
