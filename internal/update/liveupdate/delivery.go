package liveupdate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// buffered is the size in bytes up to which an archive is made once and kept for a second try. A larger archive is made
// while it is sent, and again for each try.
const buffered = 8 << 20

// parcel provides the archive of the copies as often as it is needed.
type parcel struct {
	copies []Copy
	bytes  []byte // nil when the archive is streamed
}

// pack makes the archive if it is small enough to keep.
func pack(copies []Copy) (parcel, error) {
	p := parcel{copies: copies}
	var total int64
	for _, c := range copies {
		total += 512 // the header
		if info, err := os.Lstat(c.Local); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		if total > buffered {
			return p, nil
		}
	}
	var b bytes.Buffer
	if err := Archive(&b, copies); err != nil {
		return p, err
	}
	p.bytes = b.Bytes()
	return p, nil
}

// send calls deliver with a fresh reader of the archive. An archive that cannot be made fails the delivery.
func (p parcel) send(deliver func(io.Reader) error) error {
	if p.bytes != nil {
		r := bytes.NewReader(p.bytes)
		err := deliver(r)
		if r.Len() > 0 {
			return delivered(err, errDelivered)
		}
		return err
	}
	r, w := io.Pipe()
	made := make(chan error, 1)
	go func() {
		err := Archive(w, p.copies)
		w.CloseWithError(err) // a nil error is an ordinary end of file
		made <- err
	}()
	err := deliver(r)
	r.CloseWithError(errDelivered) // unblocks Archive if the receiver has not read everything
	return delivered(err, <-made)
}

var (
	// errDelivered is the error that Archive gets when the receiver has read enough.
	errDelivered = errors.New("the receiver has stopped reading")
	// errUnread is worth a second try: a busy cluster mistakes a lost connection for the successful end of a command.
	errUnread = fmt.Errorf("the cluster reports that the command succeeded, but it did not confirm that or read all its input: %w",
		io.ErrUnexpectedEOF)
)

// delivered returns the result of a delivery: err is the error of the receiver, and made is why the archive was not
// completely delivered. A receiver that succeeds must have read all of it.
func delivered(err, made error) error {
	switch {
	case made == nil:
		return err
	case !errors.Is(made, errDelivered):
		return made
	case err == nil:
		return errUnread
	}
	return err
}

// stepError makes the error of a failed delete or copy, with a mend where the exit code suggests one.
func stepError(ctx context.Context, step, tool string, err error, output string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", step, ctx.Err())
	}
	code, exited := exitCode(err)
	if !exited {
		return &InfraError{Step: step, Err: transportProblem(err)}
	}
	var p *problem.Problem
	switch {
	case strings.Contains(output, "No space left on device"):
		p = problem.Wrap(err, "the disk is full in the container", "Make room there. The next change tries again.")
		p.Detail = output
		return &BlockedError{Step: step, Err: p}
	case code == codeNotExecutable || code == codeNotFound:
		p = problem.Wrap(err, tool+" missing in image",
			fmt.Sprintf("Add %q to the image, or leave --update-mode at auto, which needs no programs in the image.", tool))
	case code == codeKilled:
		p = problem.Wrap(err, "the container was killed meanwhile", "")
	case code == 2 || strings.Contains(output, "ermission denied") || strings.Contains(output, "ead-only file system"):
		p = unwritable(err)
	default:
		p = problem.Wrap(err, tool+" failed", "")
	}
	p.Detail = output
	return &InfraError{Step: step, Err: p}
}

func unwritable(err error) *problem.Problem {
	return problem.Wrap(err, "cannot write to the container's file system",
		"Make the synced folders writable for the user that the container runs as (in the Dockerfile: RUN chown -R USER DIR).")
}

// clip keeps the first bytes of a program's output, for error messages. It is for use by one goroutine at a time.
type clip struct{ b bytes.Buffer }

const clipBytes = 4 << 10

func (c *clip) Write(p []byte) (int, error) {
	c.b.Write(p[:min(len(p), max(0, clipBytes-c.b.Len()))])
	return len(p), nil
}

func (c *clip) String() string { return c.b.String() }
