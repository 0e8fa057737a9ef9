package podlogs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
)

const (
	// endTries is how often in a row reading may fail once the container has ended.
	endTries = 10
	// endReads is how often a log is read to its end after the container has ended. It is over sooner unless each read
	// brings more, which the log of an ended container does not for long; that of its successor does.
	endReads = 10
	// troubleAfter is after how many failures in a row Config.Trouble is told.
	troubleAfter = 2
	// previousTries is how often in a row the previous log may fail before its rest is given up.
	previousTries = 5
)

// Stream reads the log of one container of one pod. It may run several times, for one run of the container after the
// other: it then continues where it stopped, and what the log of a new run holds already is not delivered twice even if
// Kubernetes served it before the restart was known.
type Stream struct {
	src     Source
	running chan struct{} // one slot, taken by Run
	pos     position      // Run's

	cfg       Config // the rest is the current Run's
	delivered int
	note      string // the last line that had no time
	misses    int    // failures in a row of the previous log
	tail      string // the text after the last line break, of the last read that came to the log's end
}

// NewStream returns a stream that has delivered nothing.
func NewStream(src Source) *Stream {
	return &Stream{src: src, running: make(chan struct{}, 1), pos: newPosition()}
}

// Run reads a log with a stream of its own; see Stream.Run. It delivers each line once as long as it has delivered one
// before a restart, or cfg.Replaced knows of the restart in time. Where that is not good enough, use a Stream.
func Run(ctx context.Context, src Source, cfg Config) error { return NewStream(src).Run(ctx, cfg) }

// Run delivers the log of one run of a container and returns nil once it is complete: when the run has ended and
// reading to the end has brought nothing new, or when the log has turned out to be the previous one and was read to its
// end. Interruptions are mended with growing pauses, for as long as it takes while the container runs. It returns an
// error if the log of an ended container cannot be read, and the cause of ctx when that is done. A second Run waits for
// the first.
func (s *Stream) Run(ctx context.Context, cfg Config) error {
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.cfg, s.delivered, s.note, s.misses, s.tail = cfg.withDefaults(), 0, "", 0, ""
	return s.loop(ctx)
}

// result is how one connection ended.
type result struct {
	lines    int   // that were new
	err      error // nil when the log came to its end
	stalled  bool  // it was broken because nothing came
	replaced bool  // the run's log is the previous one, and was delivered to its end
	again    bool  // it ended in the middle of a line, or in another place than the time before
}

// loop reads until the log is complete.
func (s *Stream) loop(ctx context.Context) error {
	pauses, stall := retry.Backoff{First: s.cfg.Retry, Most: s.cfg.RetryMax}, s.cfg.Stall
	fails, ends := 0, 0
	for {
		// Both are asked before reading, so that a read to the end after them has everything.
		previous := s.cfg.Previous || s.cfg.Replaced()
		ended := previous || s.cfg.Ended()
		r := s.read(ctx, previous, !ended, stall)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ended && r.err == nil {
			ends++
		}
		if r.replaced || ended && r.err == nil && (r.lines == 0 && !r.again || ends >= endReads) {
			s.healed(fails)
			return nil
		}
		if r.err != nil && !r.stalled && r.lines == 0 {
			if fails++; ended && (isNoLog(r.err) || fails >= endTries) {
				return fmt.Errorf("read log of %s: %w", s.cfg.name(), r.err)
			}
			if fails == troubleAfter {
				s.cfg.Trouble(r.err)
			}
		} else {
			fails = s.healed(fails)
		}
		switch {
		case r.lines > 0:
			stall = s.cfg.Stall
			pauses.Reset()
		case r.stalled:
			stall = min(2*stall, s.cfg.StallMax)
		}
		if r.stalled {
			continue
		}
		if !pauses.Sleep(ctx) {
			return context.Cause(ctx)
		}
	}
}

// healed tells the end of a trouble that was told.
func (s *Stream) healed(fails int) int {
	if fails >= troubleAfter {
		s.cfg.Trouble(nil)
	}
	return 0
}

// read makes one connection and delivers what is new on it.
func (s *Stream) read(ctx context.Context, previous, follow bool, stall time.Duration) result {
	var r result
	c, err := s.connect(ctx, previous, follow, stall)
	if err != nil {
		r.err, r.stalled = err, false
		return r
	}
	defer c.close()
	rp := s.pos.replay()
	checked := previous || !s.pos.any
	for {
		line, cont, err := c.lines.next()
		if err != nil {
			r.stalled = follow && c.stalled()
			if r.err = c.cause(err); r.err != nil {
				return r
			}
			if !checked && !rp.begun && !follow {
				r.replaced, r.err = s.readReplaced(ctx, stall)
			}
			s.atEnd(rp, line, &r, !follow)
			return r
		}
		e, text, ok, bad := s.parse(c, line, cont)
		if bad != nil {
			r.err = bad
			return r
		}
		if !ok || rp.take(e) {
			continue
		}
		if previous && s.pos.any && !rp.begun && e.ns <= rp.until {
			continue // of a run before the one that the position is about
		}
		if !checked && !rp.begun {
			replaced, err := s.readReplaced(ctx, stall)
			if replaced || err != nil {
				r.replaced, r.err = replaced, err
				return r
			}
			checked = true
			// The previous log may have ended with lines that the position did not have when rp was made, but none of
			// them is in this log.
		}
		s.deliver(e, text)
		r.lines++
	}
}

// parse returns the line's identity and text; ok is false for what is not to be delivered, and bad is set when the line
// is the kubelet's word that there is no log.
func (s *Stream) parse(c *connection, line []byte, cont bool) (e entry, text []byte, ok bool, bad error) {
	if cont {
		return s.pos.entry(c.ns, line), line, c.wanted, nil
	}
	ns, text, stamped := parseLine(line)
	if !stamped {
		if bytes.HasPrefix(line, []byte("unable to retrieve container logs for")) {
			return e, nil, false, errors.New(string(line))
		}
		// The kubelet says something in the log itself. It may say it again each time, and it is no part of the log.
		if s.note != string(line) {
			s.note = string(line)
			s.cfg.Sink(time.Now(), s.note)
		}
		return e, nil, false, nil
	}
	c.ns, c.wanted = ns, s.wanted(ns)
	return s.pos.entry(ns, text), text, c.wanted, nil
}

// wanted reports whether a line of the given time is to be delivered.
func (s *Stream) wanted(ns int64) bool {
	return s.cfg.Since.IsZero() || ns >= s.cfg.Since.UnixNano()
}

func (s *Stream) deliver(e entry, text []byte) {
	s.cfg.Sink(time.Unix(0, e.ns), string(text))
	s.pos.add(e)
	s.delivered++
}

// atEnd looks at what stands after the last line break of a log that came to its end. If it is the same twice in a row
// after the container has ended, it is a line of its own; otherwise it may be the beginning of one.
func (s *Stream) atEnd(rp *replay, rest []byte, r *result, final bool) {
	same := s.tail == string(rest)
	s.tail = string(rest)
	if len(rest) == 0 || r.replaced || r.err != nil {
		r.again = !same
		return
	}
	if !final || !same || r.lines > 0 {
		r.again = true
		return
	}
	ns, text, ok := parseLine(rest)
	if !ok || !s.wanted(ns) {
		return
	}
	if e := s.pos.entry(ns, text); !rp.take(e) {
		s.deliver(e, text)
	}
}

// readReplaced is called when the container's log does not begin with what was delivered last. Either its beginning was
// rotated away, or the container was restarted; then the rest of the run's log is in the previous one. It delivers
// that, and reports whether this Run is done: it has delivered lines of a run whose log is now the previous one.
func (s *Stream) readReplaced(ctx context.Context, stall time.Duration) (bool, error) {
	found, mine := false, s.delivered > 0
	for {
		rest, err := s.readPrevious(ctx, stall)
		if err != nil {
			if s.misses++; isNoLog(err) || s.misses >= previousTries {
				s.misses = 0
				return found && mine, nil
			}
			return false, fmt.Errorf("read the log before the restart: %w", err)
		}
		s.misses = 0
		found = found || rest.begun || rest.lines > 0
		if rest.lines == 0 {
			return found && mine, nil
		}
	}
}

// previousResult is what a read of the previous log brought.
type previousResult struct {
	lines int
	begun bool // it held lines that were delivered before
}

// readPrevious delivers what is new in the previous log.
func (s *Stream) readPrevious(ctx context.Context, stall time.Duration) (previousResult, error) {
	var r previousResult
	c, err := s.connect(ctx, true, false, stall)
	if err != nil {
		return r, err
	}
	defer c.close()
	rp := s.pos.replay()
	for {
		line, cont, err := c.lines.next()
		if err != nil {
			r.begun = rp.begun
			return r, c.cause(err)
		}
		e, text, ok, bad := s.parse(c, line, cont)
		if bad != nil {
			return r, fmt.Errorf("%w: %w", ErrNoLog, bad)
		}
		if !ok || rp.take(e) || !rp.begun && e.ns <= rp.until {
			continue
		}
		s.deliver(e, text)
		r.lines++
	}
}

// connection is an open log that breaks when nothing comes for too long.
type connection struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
	broken atomic.Bool
	lines  *lineReader
	ns     int64 // the time of the last line
	wanted bool  // and whether it was to be delivered
}

var errStalled = errors.New("nothing came for too long")

// connect opens a log. That there is no previous one is asked a few times before it is believed.
func (s *Stream) connect(ctx context.Context, previous, follow bool, stall time.Duration) (*connection, error) {
	pause := s.cfg.Retry
	for tries := 1; ; tries++ {
		c, err := s.open(ctx, previous, follow, stall)
		if err == nil || !isNoPrevious(err) || tries == previousTries {
			return c, err
		}
		if !retry.Sleep(ctx, pause) {
			return nil, context.Cause(ctx)
		}
		pause *= 2
	}
}

func (s *Stream) open(ctx context.Context, previous, follow bool, stall time.Duration) (*connection, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &connection{cancel: cancel, stall: stall}
	c.timer = time.AfterFunc(stall, func() {
		c.broken.Store(true)
		cancel(errStalled)
	})
	body, err := s.src.Logs(ctx, Request{
		Namespace: s.cfg.Namespace, Pod: s.cfg.Pod, Container: s.cfg.Container,
		Previous: previous, Follow: follow, Since: s.pos.since(s.cfg.Since),
	})
	c.timer.Stop()
	if err != nil {
		cancel(nil)
		if c.stalled() {
			err = errStalled
		}
		return nil, err
	}
	c.body = body
	c.lines = newLineReader(c)
	return c, nil
}

// Read reads with the timer running.
func (c *connection) Read(b []byte) (int, error) {
	c.timer.Reset(c.stall)
	n, err := c.body.Read(b)
	c.timer.Stop()
	return n, err
}

func (c *connection) stalled() bool { return c.broken.Load() }

// cause is why reading ended; nil when it is the end of the log.
func (c *connection) cause(err error) error {
	switch {
	case c.stalled():
		return errStalled
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

func (c *connection) close() {
	c.timer.Stop()
	c.cancel(nil)
	_ = c.body.Close()
}
