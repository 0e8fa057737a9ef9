package podlogs

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// StallMax is the longest time that a connection stays silent before it is replaced, unless Config sets another.
const StallMax = time.Minute

// ErrNoLog is the error that a Source wraps when the requested log does not exist: the pod or container is missing, or
// the container was never restarted and has no previous run.
var ErrNoLog = errors.New("no such log")

// Request names a log.
type Request struct {
	// Cluster is as in model.Pod.
	Cluster   string
	Namespace string
	Pod       string
	Container string
	// Previous requests the log of the run before the last restart.
	Previous bool
	// Follow keeps the stream open until the container ends.
	Follow bool
	// Since omits earlier lines; zero means from the beginning. It is always a full second.
	Since time.Time
}

// Source opens logs.
type Source interface {
	// Logs opens a log whose lines begin with their time in RFC 3339 with nanoseconds, followed by one space. The
	// stream ends, as an error of Read, when ctx is done or the stream is closed.
	Logs(ctx context.Context, r Request) (io.ReadCloser, error)
}

// Config describes the log to read and the receiver of its lines.
type Config struct {
	// Cluster is as in model.Pod.
	Cluster   string
	Namespace string
	Pod       string
	Container string
	// ContainerID names the run of the container in errors.
	ContainerID string
	// Previous reads only the log of the container's previous run. It is for a run that had already been replaced when
	// it was first seen.
	Previous bool
	// Since omits earlier lines; zero means from the beginning.
	Since time.Time
	// Sink receives each line, without its line break, in order. It may block. A line of more than 4 MiB arrives in
	// pieces.
	Sink func(t time.Time, text string)
	// Ended reports whether the run is known to have ended, so that its log gets no new lines. Nil means never.
	Ended func() bool
	// Replaced reports whether the container is known to have a newer run, so that this run's log is now the previous
	// one. Nil means that this is unknown.
	Replaced func() bool
	// Trouble is called with the error after the second failure in a row, and with nil when the log can be read again.
	// It may be nil.
	Trouble func(error)

	// Stall is the time that a connection may stay silent before it is replaced, in case it is dead. While the
	// replacements stay silent too, the time doubles up to the result of StallMax. Zero means 15 s, nil StallMax.
	Stall    time.Duration
	StallMax func() time.Duration
	// Retry is the pause after a connection without new lines; it doubles up to RetryMax. Zero means 100 ms and 15 s.
	Retry, RetryMax time.Duration
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&c.Stall, 15 * time.Second}, {&c.Retry, 100 * time.Millisecond}, {&c.RetryMax, 15 * time.Second}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	if c.StallMax == nil {
		c.StallMax = func() time.Duration { return StallMax }
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

// name returns the name of the log in errors.
func (c Config) name() string {
	s := c.Namespace + "/" + c.Pod + "/" + c.Container
	if id := c.ContainerID; id != "" {
		s += " (" + id[:min(len(id), 12)] + ")"
	}
	return s
}

// isNoLog reports whether err means that the log does not exist. It also recognises the API server's message.
func isNoLog(err error) bool {
	return errors.Is(err, ErrNoLog) || strings.Contains(err.Error(), "not found")
}

// isNoPrevious reports whether err means that there is no previous log. This may be temporary: a kubelet may report it
// for a moment although the API server already shows the restart (seen in 2 of 72 restarts on a busy node).
func isNoPrevious(err error) bool {
	return strings.Contains(err.Error(), "previous terminated container")
}
