package podlogs

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// ErrNoLog is for a Source to wrap when the log that is asked for does not exist: there is no such pod or container, or
// the container was never restarted and has no previous run.
var ErrNoLog = errors.New("no such log")

// Request names a log.
type Request struct {
	Namespace string
	Pod       string
	Container string
	// Previous asks for the run before the last restart.
	Previous bool
	// Follow keeps the stream open until the container ends.
	Follow bool
	// Since leaves out earlier lines; zero means from the beginning. It is always a full second.
	Since time.Time
}

// Source opens logs.
type Source interface {
	// Logs opens a log whose lines begin with their time in RFC 3339 with nanoseconds, followed by one space. The
	// stream ends, as an error of Read, when ctx is done or the stream is closed.
	Logs(ctx context.Context, r Request) (io.ReadCloser, error)
}

// Config says which log to read and where to.
type Config struct {
	Namespace string
	Pod       string
	Container string
	// ContainerID names the run of the container in errors.
	ContainerID string
	// Previous reads the log of the container's previous run only: for a run that had ended and was replaced before
	// the first look.
	Previous bool
	// Since leaves out earlier lines; zero means from the beginning.
	Since time.Time
	// Sink takes each line, without its line break, in order. It may block. A line of more than 4 MiB comes in pieces.
	Sink func(t time.Time, text string)
	// Ended reports whether the run has ended as far as is known; then its log gets no new lines. Nil means never.
	Ended func() bool
	// Replaced reports whether it is known that another run has taken the container's place, so that this one's log is
	// now the previous one. Nil means that it is not known.
	Replaced func() bool
	// Trouble is told why the log cannot be read after the second failure in a row, and nil when it can be read again.
	// It may be nil.
	Trouble func(error)

	// Stall is how long nothing may come before the connection is replaced, to see whether it is still alive; as long as
	// that brings nothing, the time doubles up to StallMax. Zero means 15 s and 1 min.
	Stall, StallMax time.Duration
	// Retry is the pause before the second connection after one that brought nothing; it doubles up to RetryMax. Zero
	// means 100 ms and 15 s.
	Retry, RetryMax time.Duration
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&c.Stall, 15 * time.Second}, {&c.StallMax, time.Minute}, {&c.Retry, 100 * time.Millisecond}, {&c.RetryMax, 15 * time.Second}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	if c.Ended == nil {
		c.Ended = func() bool { return false }
	}
	if c.Replaced == nil {
		c.Replaced = func() bool { return false }
	}
	if c.Trouble == nil {
		c.Trouble = func(error) {}
	}
	return c
}

// name is how errors call the log.
func (c Config) name() string {
	s := c.Namespace + "/" + c.Pod + "/" + c.Container
	if id := c.ContainerID; id != "" {
		s += " (" + id[:min(len(id), 12)] + ")"
	}
	return s
}

// isNoLog reports whether a source says that there is no such log. The API server's own words are understood, too.
func isNoLog(err error) bool {
	return errors.Is(err, ErrNoLog) || strings.Contains(err.Error(), "not found")
}

// isNoPrevious reports whether it is said that there is no previous log. It need not be the last word: a kubelet may say it
// for a moment while the API server shows the restart already (seen in 2 of 72 restarts on a busy node).
func isNoPrevious(err error) bool {
	return strings.Contains(err.Error(), "previous terminated container")
}
