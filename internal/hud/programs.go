package hud

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/pkg/model"
)

// LoadSettings reads the user's settings of the screen. An error that the user can mend is a problem; it names the line.
func LoadSettings() (settings.Settings, error) {
	s, err := settings.Load(settings.Path(), os.Getenv)
	if err == nil {
		err = screen.Check(s)
	}
	return s, err
}

// ownPrograms runs the user's programs in the terminal of the process.
func ownPrograms(shell func(ctx context.Context, resource, pod, container string) error) screen.Programs {
	return screen.Programs{
		Shell: shell,
		Edit: func(ctx context.Context, path string, line int) error {
			return editor.FromEnvironment(os.Stdin, os.Stdout, os.Stderr).Open(ctx, path, line)
		},
		Page: func(ctx context.Context, path string) error {
			return editor.PagerFromEnvironment(os.Stdin, os.Stdout, os.Stderr).Show(ctx, path)
		},
		Run: RunCommand,
	}
}

// RunCommand runs a command of the user's own with facts in its environment. A command that needs the terminal gets the one of
// the process, which must not show a screen then. Any other command returns its output, at most maxOutput bytes. An
// error says why the command failed. The end of ctx ends the command.
func RunCommand(ctx context.Context, c settings.Command, env []string) (output string, err error) {
	if c.Terminal {
		return "", editor.Command(ctx, c.Run, env, os.Stdin, os.Stdout, os.Stderr)
	}
	return captured(ctx, c.Run, env)
}

// captured runs a command line without the terminal and returns its output.
func captured(ctx context.Context, line string, env []string) (string, error) {
	argv := []string{"sh", "-c", line}
	if runtime.GOOS == "windows" {
		argv = []string{"cmd", "/c", line}
	}
	var out limited
	err := process.Run(ctx, process.Command{Cmd: model.Cmd{Argv: argv, Env: env}, Stdout: &out, Stderr: &out, Plain: true})
	if err != nil {
		err = problem.Wrap(err, fmt.Sprintf("the command %q has failed", line), "")
	}
	return out.String(), err
}

// maxOutput bounds the output of a command that is kept, in bytes.
const maxOutput = 1 << 20

// limited keeps the beginning of the text that is written to it.
type limited struct{ bytes.Buffer }

// Write never fails: the command does not notice that the rest is dropped.
func (l *limited) Write(p []byte) (int, error) {
	if room := maxOutput - l.Len(); room > 0 {
		_, _ = l.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
