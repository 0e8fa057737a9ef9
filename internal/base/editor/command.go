package editor

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Command runs a command line of the user's, which has the terminal until it has ended. env is added to the environment of
// this process.
func Command(ctx context.Context, line string, env []string, in io.Reader, out, errs io.Writer) error {
	c := exec.CommandContext(ctx, "sh", "-c", line)
	if runtime.GOOS == "windows" {
		c = exec.CommandContext(ctx, "cmd", "/c", line)
	}
	c.Stdin, c.Stdout, c.Stderr = in, out, errs
	c.Env = append(os.Environ(), env...)
	if err := Run(c); err != nil {
		return problem.Wrap(err, fmt.Sprintf("the command %q has failed", line), "its output is on the screen that you see after hone has ended")
	}
	return nil
}
