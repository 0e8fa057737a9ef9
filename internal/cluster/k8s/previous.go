package k8s

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// previousLines is the most lines of a previous run that are read, the newest, and previousLine the most bytes of one line.
const previousLines, previousLine = 2000, 64 << 10

// PreviousLog returns the newest lines of the run of a container before its present one, as "kubectl logs --previous" does, also
// of a run that had ended before the session began. An error is a problem unless the context has ended; there is one if the
// container has had no other run, or if the cluster has not kept its log.
func (c *Client) PreviousLog(ctx context.Context, of model.ContainerRef) ([]string, error) {
	log, err := c.Logs(ctx, LogRequest{Namespace: of.Namespace, Pod: of.Pod, Container: of.Name, Previous: true})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case strings.Contains(err.Error(), "previous terminated container"):
		return nil, problem.New(fmt.Sprintf("container %s of pod %s has no previous run", of.Name, of.Pod), "It has not been restarted, or the cluster has not kept the log")
	case IsNotFound(err):
		return nil, problem.New(fmt.Sprintf("pod %s is gone, and its previous run with it", of.Pod), "The log of the session has what was read while it ran")
	default:
		return nil, problem.New("the previous run cannot be read: "+err.Error(), "Try again once the cluster answers")
	}
	defer func() { _ = log.Close() }()
	return lastLines(log, previousLines)
}

// lastLines returns the last n lines of a log without their times.
func lastLines(log io.Reader, n int) ([]string, error) {
	in := bufio.NewReaderSize(log, previousLine)
	var out []string
	for {
		line, err := in.ReadSlice('\n')
		if long := errors.Is(err, bufio.ErrBufferFull); len(line) > 0 {
			_, text, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
			out = append(out, text)
			for long {
				_, err = in.ReadSlice('\n')
				long = errors.Is(err, bufio.ErrBufferFull)
			}
		}
		if len(out) >= 2*n {
			out = append(out[:0], out[len(out)-n:]...)
		}
		if errors.Is(err, io.EOF) {
			return out[max(0, len(out)-n):], nil
		}
		if err != nil {
			return nil, err
		}
	}
}
