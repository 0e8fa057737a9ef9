package session

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hone-dev/hone/pkg/api"
)

// maxSpool bounds the lines of a log that were read and not printed yet, in bytes.
const maxSpool = 64 << 20

// logSpool reads a log ahead of the printer, so that a stopped terminal, or a pager, does not make the session wait; the
// session would end the connection after a while. Beyond its bound it drops the oldest lines of a log that is followed, and
// counts them; a log that ends is not read further. It owns one goroutine, which Close ends.
type logSpool struct {
	in    io.ReadCloser
	drops bool
	bound int
	done  chan struct{}

	mu     sync.Mutex // guards the fields below
	change sync.Cond  // of mu: there is something to print, or room
	lines  []spooled
	size   int
	// skipped counts the lines that were dropped before the first of lines.
	skipped uint64
	// err is the reason why no lines follow: io.EOF at the end.
	err    error
	closed bool
}

// spooled is a line with the text that it came as.
type spooled struct {
	api.LogLine
	raw []byte
}

func newLogSpool(in io.ReadCloser, drops bool, bound int) *logSpool {
	s := &logSpool{in: in, drops: drops, bound: bound, done: make(chan struct{})}
	s.change.L = &s.mu
	go func() {
		defer close(s.done)
		s.fill()
	}()
	return s
}

// Close ends the reading.
func (s *logSpool) Close() {
	s.mu.Lock()
	s.closed = true
	s.change.Broadcast()
	s.mu.Unlock()
	_ = s.in.Close()
	<-s.done
}

// fill reads until the end.
func (s *logSpool) fill() {
	in := bufio.NewReaderSize(s.in, 64<<10)
	for {
		raw, err := in.ReadBytes('\n')
		l := spooled{raw: raw}
		switch {
		case errors.Is(err, io.EOF) && len(raw) == 0:
		case err != nil:
			err = brokenOff{fmt.Errorf("read the log: %w", err)}
		default:
			if err = json.Unmarshal(raw, &l.LogLine); err != nil {
				err = fmt.Errorf("read a line of the log: %w", err)
			}
		}
		if !s.add(l, err) {
			return
		}
	}
}

// add adds a line, or the end, and reports whether there is more to read.
func (s *logSpool) add(l spooled, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := err == nil && !s.drops
	for waits && !s.closed && s.size > s.bound {
		s.change.Wait()
	}
	if s.closed || err != nil {
		s.err = err
		s.change.Broadcast()
		return false
	}
	s.lines = append(s.lines, l)
	s.size += len(l.raw)
	for s.drops && s.size > s.bound && len(s.lines) > 1 {
		old := s.lines[0]
		s.skipped += max(1, old.Skipped)
		s.size -= len(old.raw)
		s.lines[0] = spooled{}
		s.lines = s.lines[1:]
	}
	s.change.Broadcast()
	return true
}

// next waits for lines, and returns all available ones with the number of lines missing before them. The last ones come
// with the error that ended the log.
func (s *logSpool) next() (lines []spooled, skipped uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.lines) == 0 && s.err == nil && !s.closed {
		s.change.Wait()
	}
	lines, skipped, err = s.lines, s.skipped, s.err
	s.lines, s.size, s.skipped = nil, 0, 0
	s.change.Broadcast()
	return lines, skipped, err
}
