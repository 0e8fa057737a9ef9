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
	// endTries is the number of failures in a row after which reading ends, once the container has ended.
	endTries = 10
	// endReads bounds the times that a log is read to its end after the container has ended. Reading stops earlier once
	// a read brings nothing new. Only the log of a replacement keeps growing.
	endReads = 10
	// troubleAfter is the number of failures in a row after which Config.Trouble is called.
	troubleAfter = 2
	// previousTries is the number of failures in a row to read the previous log after which its rest is skipped.
	previousTries = 5
)

// Stream reads the log of one container of one pod. Run may be called once for each run of the container: it then
// continues where it stopped. Lines of a new run that Kubernetes served before the restart was known are not delivered
// again.
type Stream struct {
	src     Source
	running chan struct{} // one slot, taken by Run
	pos     position      // owned by Run

	cfg       Config // this and all below belong to the current Run
	delivered int
	note      string // the last line that had no time
	misses    int    // failures in a row to read the previous log
	tail      string // the text after the last line break in the last read that reached the log's end
}

// NewStream returns a stream that has delivered nothing.
func NewStream(src Source) *Stream {
	return &Stream{src: src, running: make(chan struct{}, 1), pos: newPosition()}
}

// Run delivers the log of one run of a container. It returns nil once the log is complete: the run has ended and a read
// to the end brought nothing new, or the log turned out to be the previous one and was read to its end. While the
// container runs, Run reconnects after interruptions with growing pauses, without limit. It returns an error if the log
// of an ended container cannot be read, and the cause of ctx when ctx is done. A second Run waits for the first.
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

// result describes the end of one connection.
type result struct {
	lines    int   // number of new lines
	err      error // nil when the log came to its end
	stalled  bool  // the connection was broken because it was silent
	replaced bool  // the run's log is the previous one, and was delivered to its end
	again    bool  // it ended in the middle of a line, or at another place than the last time
}

// loop reads until the log is complete.
func (s *Stream) loop(ctx context.Context) error {
	pauses, stall := retry.Backoff{First: s.cfg.Retry, Most: s.cfg.RetryMax}, s.cfg.Stall
	fails, ends := 0, 0
	for {
		// Both are called before the read, so that a read to the end afterwards is complete.
		previous := s.cfg.Previous || s.cfg.Replaced()
		ended := previous || s.cfg.Ended()
		r := s.read(ctx, previous, !ended, stall)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		complete := r.replaced
		if ended && r.err == nil {
			ends++
			complete = complete || ends >= endReads || r.lines == 0 && !r.again
		}
		if complete {
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
			stall = min(2*stall, s.cfg.StallMax())
		}
		if r.stalled {
			continue
		}
		if !pauses.Sleep(ctx) {
			return context.Cause(ctx)
		}
	}
}

// healed reports the end of a reported trouble.
func (s *Stream) healed(fails int) int {
	if fails >= troubleAfter {
		s.cfg.Trouble(nil)
	}
	return 0
}

// read opens one connection and delivers its new lines.
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
		if previous && s.pos.any && rp.before(e) {
			continue // from a run before the one that the position describes
		}
		if !checked && !rp.begun {
			replaced, err := s.readReplaced(ctx, stall)
			if replaced || err != nil {
				r.replaced, r.err = replaced, err
				return r
			}
			checked = true
			// The previous log may have ended with lines that are not in rp, but none of them is in this log.
		}
		s.deliver(e, text)
		r.lines++
	}
}

// parse returns the line's identity and text. ok is false for lines that must not be delivered. bad is set if the line
// is the kubelet's message that there is no log.
func (s *Stream) parse(c *connection, line []byte, cont bool) (e entry, text []byte, ok bool, bad error) {
	if cont {
		return s.pos.entry(c.ns, line), line, c.wanted, nil
	}
	ns, text, stamped := parseLine(line)
	if !stamped {
		if bytes.HasPrefix(line, []byte("unable to retrieve container logs for")) {
			return e, nil, false, errors.New(string(line))
		}
		// This is a message of the kubelet, not part of the log. The kubelet may repeat it on each connection.
		if s.note != string(line) {
			s.note = string(line)
			s.cfg.Sink(time.Now(), s.note)
		}
		return e, nil, false, nil
	}
	c.ns, c.wanted = ns, s.wanted(ns)
	return s.pos.entry(ns, text), text, c.wanted, nil
}

// wanted reports whether a line of the given time should be delivered.
func (s *Stream) wanted(ns int64) bool {
	return s.cfg.Since.IsZero() || ns >= s.cfg.Since.UnixNano()
}

func (s *Stream) deliver(e entry, text []byte) {
	s.cfg.Sink(time.Unix(0, e.ns), string(text))
	s.pos.add(e)
	s.delivered++
}

// atEnd handles the text after the last line break of a log that was read to its end. If it is the same twice in a row
// after the container has ended, it is a complete line; otherwise it may be the beginning of one.
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

// readReplaced is called when the container's log does not begin with the lines that were delivered last. Either its
// beginning was rotated away, or the container was restarted and the rest of the run's log is in the previous log.
// readReplaced delivers that rest. It reports whether this Run is done, because it has delivered lines of a run whose
// log is now the previous one.
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

// previousResult is the result of reading the previous log.
type previousResult struct {
	lines int
	begun bool // the log contained lines that were delivered before
}

// readPrevious delivers the new lines of the previous log.
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
		if !ok || rp.take(e) || rp.before(e) {
			continue
		}
		s.deliver(e, text)
		r.lines++
	}
}

// connection is an open log that breaks when it is silent for too long.
type connection struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
	broken atomic.Bool
	lines  *lineReader
	ns     int64 // the time of the last line
	wanted bool  // whether the last line should be delivered
}

var errStalled = errors.New("the connection was silent for too long")

// connect opens a log. If the previous log is reported missing, it tries a few times.
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
		Cluster: s.cfg.Cluster, Namespace: s.cfg.Namespace, Pod: s.cfg.Pod, Container: s.cfg.Container,
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

// cause returns why reading ended, or nil at the end of the log.
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
