package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/client/tunnel"
)

// maxSaid is the number of bytes that are kept of the message of a failed hone shell.
const maxSaid = 4 << 10

// Child runs hone shell as a separate program in this terminal, and returns the reason why it failed. An exit code of the user's
// shell is no failure.
func Child(ctx context.Context, session sessions.Info, resource, pod, container string) error {
	self, err := ownProgram()
	if err != nil {
		return fmt.Errorf("find hone's own program: %w", err)
	}
	return child(ctx, append([]string{self}, childArgs(session, resource, pod, container)...))
}

// Far runs hone shell on the machine of a session, as Child does on this one.
func Far(ctx context.Context, to tunnel.Address, session sessions.Info, resource, pod, container string) error {
	there := shellquote.Join(append([]string{"hone"}, childArgs(session, resource, pod, container)...)...)
	return child(ctx, to.Command([]string{"-t", "-o", "LogLevel=ERROR"}, there))
}

func child(ctx context.Context, argv []string) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var said head
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, &said
	return failure(editor.Run(c), string(said.text))
}

// childArgs returns the command line. The names may come from a session on another machine: none of them can become a flag.
func childArgs(session sessions.Info, resource, pod, container string) []string {
	args := []string{"shell", "--session=" + session.Name}
	if session.Name == "" {
		args = []string{"shell", "--host=" + session.Host, fmt.Sprintf("--port=%d", session.Port)}
	}
	return append(args, "--pod="+pod, "--container="+container, "--resource="+resource)
}

// failure returns why hone shell failed, from its error and its message.
func failure(err error, said string) error {
	summary, mend, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(said), "Error: "), "\n")
	var exit *exec.ExitError
	switch {
	case err == nil, errors.As(err, &exit) && summary == "":
		return nil
	case errors.As(err, &exit):
		return problem.New(summary, words.OneLine(mend))
	}
	return fmt.Errorf("run hone shell: %w", err)
}

// ownProgram returns a path that starts this program, on Linux even after its file was replaced by a newer version.
func ownProgram() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// head is a writer that keeps only the first maxSaid bytes.
type head struct{ text []byte }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxSaid-len(h.text))]...)
	return len(p), nil
}
