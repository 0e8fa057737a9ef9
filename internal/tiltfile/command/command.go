package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// outputWait is for how long a command's output is awaited once the command itself has ended: what it left running in
// the background must not hold up the evaluation.
const outputWait = 2 * time.Second

// Command is a program that the evaluation runs, with everything that it gets.
type Command struct {
	model.Cmd
	// Path is that of the program, environ the whole environment as "K=V".
	Path    string
	Environ []string
	Stdin   string
	// Quiet keeps the output out of the log.
	Quiet bool
	// Inputs returns what decides the output as the files are now, or nil where that is not known; a nil function says that
	// it never is. It is called from several goroutines. Only quiet commands have one, since the output of a command that
	// does not run cannot be logged.
	Inputs func() *Inputs
}

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
		return "", fmt.Errorf("command %q was stopped: %w", p.String(), errTooMuch)
	}
	failed := problem.New(fmt.Sprintf("command %q failed: %v", p.String(), err), "")
	failed.Detail = fault.Tail(stdout.String()+stderr.String(), 40)
	return "", failed
}

// LookPath finds a program in the evaluation's PATH, which need not be the process' own.
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

// lineLogger logs whole lines of a command's output behind an arrow.
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

// flush logs what came without a line break.
func (l *lineLogger) flush() {
	if len(l.rest) > 0 {
		logstore.Infof(l.log, " → %s", l.rest)
		l.rest = nil
	}
}

// mostOutput bounds what a command may write, standard output and standard error each, in bytes.
const mostOutput = 64 << 20

// errTooMuch says that a command wrote more than it may.
var errTooMuch = errors.New("it wrote more than " + fmt.Sprintf("%d MiB", mostOutput>>20) + ", which is the most that a Tiltfile takes")

// bounded keeps what a command writes, and stops the command when it is too much.
type bounded struct {
	text bytes.Buffer // not embedded: its ReadFrom would go around the bound
	stop func(error)
}

// String is what was written.
func (b *bounded) String() string { return b.text.String() }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > mostOutput {
		b.stop(errTooMuch)
		return 0, errTooMuch
	}
	return b.text.Write(p)
}
