package k8s

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LogRequest names the log of one run of a container.
type LogRequest struct {
	// Cluster is the context of the cluster, as in model.K8sTarget. A Fleet reads it; a client of one cluster does not.
	Cluster string
	// Namespace of the pod; empty means the session's.
	Namespace string
	Pod       string
	// Container may be empty where the pod has only one.
	Container string
	// Previous reads the log of the run before the current one.
	Previous bool
	// Since omits the lines whose time is before it, to the nanosecond; the zero time omits none.
	Since time.Time
	// Follow waits for more lines until the container ends.
	Follow bool
}

// Logs opens the log of a container. Each line starts with its time in RFC 3339 with nanoseconds, and a space. The
// reader ends with io.EOF when the log does, with the context's error when ctx is done, and with another error when the
// connection breaks. It must be closed. A missing pod is an error for which IsNotFound holds; a container that has not
// started yet is an error for which IsNotStarted holds.
func (c *Client) Logs(ctx context.Context, req LogRequest) (io.ReadCloser, error) {
	opts := &corev1.PodLogOptions{
		Container: req.Container, Previous: req.Previous, Follow: req.Follow, Timestamps: true,
	}
	if !req.Since.IsZero() {
		since := metav1.NewTime(req.Since.Truncate(time.Second)) // the server supports whole seconds only
		opts.SinceTime = &since
	}
	body, err := c.core.rest.Get().Namespace(c.namespace(req.Namespace)).Resource("pods").Name(req.Pod).SubResource("log").VersionedParams(opts, coreParameters).Stream(quiet(ctx))
	if err != nil {
		return nil, fmt.Errorf("read log of pod %s/%s: %w", c.namespace(req.Namespace), req.Pod, c.Explain(contextError(ctx, err)))
	}
	if req.Since.IsZero() {
		return &contextReader{ctx, body, body}, nil
	}
	return &contextReader{ctx, &sinceReader{r: bufio.NewReaderSize(body, stampSize), since: req.Since}, body}, nil
}

// contextReader reports the end of its context as such.
type contextReader struct {
	ctx context.Context
	io.Reader
	io.Closer
}

func (r *contextReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && r.ctx.Err() != nil {
		err = r.ctx.Err()
	}
	return n, err
}

// sinceReader omits lines whose time is before since. The lines of a container are nearly in order, so sinceReader
// stops filtering once the times are well past since.
type sinceReader struct {
	r       *bufio.Reader
	since   time.Time
	pass    bool   // nothing more is omitted
	pending []byte // the unread rest of a line that was let through
	skip    bool   // inside a long line that is omitted
	keep    bool   // inside a long line that was let through
}

// orderSlack is the most by which the lines of a container may be out of order: the server sorts them, but stdout and
// stderr take different paths to the log.
const orderSlack = 2 * time.Second

// stampSize is the buffer size of a sinceReader, which holds the time of a line. There may be thousands of readers.
const stampSize = 256

func (s *sinceReader) Read(p []byte) (int, error) {
	for {
		if len(s.pending) > 0 {
			n := copy(p, s.pending)
			s.pending = s.pending[n:]
			return n, nil
		}
		if s.pass {
			return s.r.Read(p)
		}
		if err := s.next(); err != nil && len(s.pending) == 0 {
			return 0, err
		}
	}
}

// next reads a line, or a piece of a long one, and decides whether to omit it.
func (s *sinceReader) next() error {
	piece, err := s.r.ReadSlice('\n')
	long := errors.Is(err, bufio.ErrBufferFull)
	if long {
		err = nil
	}
	switch {
	case s.skip || s.keep:
		if s.keep {
			s.pending = piece
		}
	default:
		s.skip = s.before(piece)
		s.keep = !s.skip
		if s.keep {
			s.pending = piece
		}
	}
	if !long {
		s.skip, s.keep = false, false
	}
	return err
}

// before reports whether the line's time is before since. A line without a time is let through.
func (s *sinceReader) before(line []byte) bool {
	stamp, _, _ := bytes.Cut(line, []byte{' '})
	t, err := time.Parse(time.RFC3339Nano, string(bytes.TrimSpace(stamp)))
	if err != nil {
		return false
	}
	if t.After(s.since.Add(orderSlack)) {
		s.pass = true
	}
	return t.Before(s.since)
}
