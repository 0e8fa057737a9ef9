package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// outputWait is the longest wait for a command's output once the command itself has ended: processes that it left in
// the background must not hold up the evaluation.
const outputWait = 2 * time.Second

// Command is a program that the evaluation runs, with its arguments, environment and input.
type Command struct {
	model.Cmd
	// Path is the path of the program, Environ its whole environment as "K=V".
	Path    string
	Environ []string
	Stdin   string
	// Quiet keeps the output out of the log.
	Quiet bool
	// Inputs returns the files that determine the output, or nil where they are unknown. A nil function means that
	// they are always unknown. Inputs is called from several goroutines. Only quiet commands have it, since the
	// output of a command that does not run cannot be logged.
	Inputs func() *Inputs
}

// longestLine is the length, in characters, to which an error shortens a command line.
const longestLine = 400

// line is the command line in errors.
func (p Command) line() string { return words.ClipChars(p.String(), longestLine) }

// Program names the program, without its arguments: they may hold a secret, and so may a script.
func (p Command) Program() string {
	name := filepath.Base(p.Argv[0])
	if slices.Contains(shells, strings.TrimSuffix(name, ".exe")) {
		return "a command"
	}
	return name
}

// shells are the programs that run what their arguments say.
var shells = []string{"sh", "bash", "cmd", "powershell", "pwsh"}

// run runs the command. Its output is logged line by line unless it is quiet.
func (p Command) run(parent context.Context, log logstore.Logger) (string, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, p.Path, p.Argv[1:]...)
	cmd.Args[0] = p.Argv[0]
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Environ, strings.NewReader(p.Stdin)
	asGroup(cmd)
	cmd.WaitDelay = outputWait
	stdout, stderr := &bounded{stop: cancel}, &bounded{stop: cancel}
	outLog, errLog := &lineLogger{log: log}, &lineLogger{log: log}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(stdout, outLog), io.MultiWriter(stderr, errLog)
	if p.Quiet {
		cmd.Stdout, cmd.Stderr = stdout, stderr
	}
	err := cmd.Run()
	if errors.Is(context.Cause(ctx), errTooMuch) {
		err = errTooMuch // also where the command ended well before it was stopped
	}
	outLog.flush()
	errLog.flush()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return stdout.String(), nil
	}
	if parent.Err() != nil {
		return "", context.Cause(parent)
	}
	if errors.Is(context.Cause(ctx), errTooMuch) {
		return "", fmt.Errorf("command %q was stopped: %w", p.line(), errTooMuch)
	}
	failed := problem.New(fmt.Sprintf("command %q failed: %v", p.line(), err), "")
	failed.Detail = fault.Tail(stdout.String()+stderr.String(), 40)
	return "", failed
}

// LookPath finds a program in path, the PATH of the evaluation, which may differ from the process's own.
func LookPath(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if found, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return found, nil
		}
	}
	return "", problem.Wrap(exec.ErrNotFound, fmt.Sprintf("cannot run %q", name), "install it, or add its folder to PATH")
}

// lineLogger logs the output of a command line by line, after an arrow.
type lineLogger struct {
	log  logstore.Logger
	rest []byte
}

// Write implements io.Writer.
func (l *lineLogger) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		logstore.Infof(l.log, " → %s", line)
		l.rest = rest
	}
}

// flush logs the rest, which has no line break.
func (l *lineLogger) flush() {
	if len(l.rest) > 0 {
		logstore.Infof(l.log, " → %s", l.rest)
		l.rest = nil
	}
}

// mostOutput is the most that a command may write to standard output and to standard error each, in bytes.
const mostOutput = 64 << 20

// errTooMuch means that a command wrote more than mostOutput.
var errTooMuch = errors.New("it wrote more than " + fmt.Sprintf("%d MiB", mostOutput>>20) + ", which is the most that a Tiltfile takes")

// bounded keeps the output of a command, and stops the command when it is too much.
type bounded struct {
	text bytes.Buffer // not embedded: its ReadFrom would bypass the limit
	stop func(error)
}

// String returns the output.
func (b *bounded) String() string { return b.text.String() }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > mostOutput {
		b.stop(errTooMuch)
		return 0, errTooMuch
	}
	return b.text.Write(p)
}
