package k8s

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// ExecRequest is a command to run in a running container.
type ExecRequest struct {
	// Cluster is the context of the cluster, as in model.K8sTarget. A Fleet reads it; a client of one cluster does not.
	Cluster string
	// Namespace of the pod; empty means the session's.
	Namespace string
	Pod       string
	// Container may be empty where the pod has only one.
	Container string
	// Argv is the command; there is no shell unless it names one.
	Argv []string
	// Stdin is read to its end, which the command sees as the end of its input. Nil gives the command no input. A Read
	// that still blocks when the command has ended is abandoned: the caller must end it.
	Stdin io.Reader
	// Stdout and Stderr receive the output, each from one goroutine; nil drops it. A failed Write ends the exec.
	Stdout io.Writer
	Stderr io.Writer
	// TTY gives the command a terminal. Everything that it writes then goes to Stdout, with the line ends of a terminal.
	TTY bool
	// Sizes are the sizes of that terminal: the first and every later one. Nil leaves the size to the container runtime.
	Sizes <-chan terminal.Extent
	// Certain is for a command whose output does not show how it ended. API servers translate WebSockets for the kubelet. When
	// they lose the connection to the kubelet they report success (version 1.34, next to two busy loops: 1 in 50). With
	// Certain the exec uses only SPDY, which API servers pass on unchanged, so that a lost connection is an error.
	Certain bool
	// Quick prefers SPDY where both protocols work. It is for commands with much input: the API server passes SPDY on unchanged, and
	// translates WebSockets. (A live update of 1 MB: 11.6 ms over SPDY, 17.4 ms over a WebSocket; API server 1.34.)
	Quick bool
}

// ExitError is the error of a command that ended with a code other than 0, or could not be started. It is the command's
// own failure; other errors of Exec are failures of the connection.
type ExitError struct {
	// Code is the exit code, 1 to 255. It is 127 where the container has no such command, and 126 where it has one that
	// cannot be executed.
	Code int
	// Message is the container runtime's message, where it gives more than the code.
	Message string
}

// Error returns "command exited with code N", with the runtime's message.
func (e *ExitError) Error() string {
	s := "command exited with code " + strconv.Itoa(e.Code)
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

var _ error = (*ExitError)(nil)

// errNoCommand is returned for an ExecRequest without Argv.
var errNoCommand = errors.New("exec: no command given")

// Exec runs a command in a container and returns when it has ended and all its output has been written. A command that
// ends with a code other than 0 gives an *ExitError, a cancelled context the context's error, and a missing pod an
// error for which IsNotFound holds. All other errors are failures of the connection. Cancelling closes the connection,
// which does not end the command itself unless it reads or writes. Exec never retries.
func (c *Client) Exec(ctx context.Context, req ExecRequest) error {
	if len(req.Argv) == 0 {
		return errNoCommand
	}
	u := c.execURL(req)
	spdy := func(ctx context.Context) (execStream, error) { return c.dialExecSPDY(ctx, u, req) }
	prefer := protocolWebSocket
	if req.Quick {
		prefer = protocolSPDY
	}
	dial := func(ctx context.Context) (execStream, error) {
		return withStream(ctx, c, prefer, func(ctx context.Context) (execStream, error) { return c.dialExecWebSocket(ctx, u) }, spdy)
	}
	if req.Certain {
		dial = spdy
	}
	run, err := dial(ctx)
	if err != nil {
		return fmt.Errorf("exec in pod %s/%s: %w", c.namespace(req.Namespace), req.Pod, c.Explain(contextError(ctx, err)))
	}
	return c.execError(ctx, req, run.run(ctx, req))
}

// pumpSizes writes each size of the terminal until ctx is done or the sizes end. A size that cannot be written is dropped: the
// goroutine that reads from the connection reports why it broke.
func pumpSizes(ctx context.Context, sizes <-chan terminal.Extent, write func(message []byte) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-sizes:
			if !ok {
				return
			}
			message, err := json.Marshal(terminalSize{uint16(e.Columns), uint16(e.Rows)})
			if err != nil || write(message) != nil {
				return
			}
		}
	}
}

// terminalSize is a size of a terminal in the exec protocol.
type terminalSize struct{ Width, Height uint16 }

// execStream is an open connection on which the command has been started.
type execStream interface {
	// run copies the streams until the command has ended, and closes the connection. The error is nil, an *ExitError,
	// or the failure of the connection.
	run(ctx context.Context, req ExecRequest) error
}

func (c *Client) execError(ctx context.Context, req ExecRequest, err error) error {
	var exit *ExitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return fmt.Errorf("exec in pod %s/%s: %w", c.namespace(req.Namespace), req.Pod, contextError(ctx, err))
}

// contextError returns the context's error if the context has ended, else err.
func contextError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (c *Client) execURL(req ExecRequest) *url.URL {
	u := c.podURL(c.namespace(req.Namespace), req.Pod, "exec")
	q := url.Values{"command": req.Argv}
	if req.Container != "" {
		q.Set("container", req.Container)
	}
	if req.Stdin != nil {
		q.Set("stdin", "true")
	}
	// The outputs are always requested: a command without a reader would end differently.
	q.Set("stdout", "true")
	if req.TTY {
		q.Set("tty", "true") // a terminal has one output
	} else {
		q.Set("stderr", "true")
	}
	u.RawQuery = q.Encode()
	return u
}

// nonZeroExit and exitCodeCause are the constants of the exec protocol's final status.
const (
	nonZeroExit   = "NonZeroExitCode"
	exitCodeCause = "ExitCode"
)

// parseExecStatus interprets the final message of the error stream. An empty message means that the stream broke.
func parseExecStatus(message []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(message, &status); err != nil {
		return fmt.Errorf("unreadable exec status %q: %w", shorten(string(message), 200), err)
	}
	switch {
	case status.Status == metav1.StatusSuccess:
		return nil
	case status.Reason == nonZeroExit && status.Details != nil:
		for _, cause := range status.Details.Causes {
			if cause.Type != exitCodeCause {
				continue
			}
			code, err := strconv.Atoi(cause.Message)
			if err != nil || code == 0 {
				return fmt.Errorf("unreadable exit code %q", cause.Message)
			}
			return &ExitError{Code: code}
		}
	}
	if code := startFailure(status.Message); code != 0 {
		return &ExitError{Code: code, Message: shorten(status.Message, 400)}
	}
	return errors.New(shorten(status.Message, 400))
}

// startFailure recognises the messages of container runtimes about commands that cannot be started. It returns the exit
// code that a shell would give, or 0 for other messages.
func startFailure(message string) int {
	switch {
	case strings.Contains(message, "executable file not found"),
		strings.Contains(message, "exec:") && strings.Contains(message, "no such file or directory"),
		strings.Contains(message, "exec failed") && strings.Contains(message, "no such file or directory"):
		return 127
	case strings.Contains(message, "exec:") && strings.Contains(message, "permission denied"),
		strings.Contains(message, "exec format error"):
		return 126
	}
	return 0
}

func shorten(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " …"
}
