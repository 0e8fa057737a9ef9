package tiltfile

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
	"github.com/hone-dev/hone/pkg/model"
)

// outputWait is for how long a command's output is awaited once the command itself has ended: what it left running in
// the background must not hold up the evaluation.
const outputWait = 2 * time.Second

// execution is a command run during the evaluation.
type execution struct {
	model.Cmd
	stdin string
	// quiet keeps the output out of the log.
	quiet bool
	// inputs returns what decides the output as the files are now, or nil where that is not known; a nil function says that
	// it never is. It is called from several goroutines. Only quiet commands have one, since the output of a command that
	// does not run cannot be logged.
	inputs func() *inputs
}

// prepared is an execution with everything that it takes from the evaluation.
type prepared struct {
	execution
	path string
	env  []string
}

// exec runs a command to its end and returns what it wrote to standard output. It is killed with its process group
// when the evaluation is cancelled. A command with known inputs does not run when the memo has its answer.
func (s *state) exec(x execution) (string, error) {
	out, err := s.execAny(x)
	s.learnSecrets(out)
	return out, err
}

func (s *state) execAny(x execution) (string, error) {
	path, err := lookPath(x.Argv[0], x.Dir, s.env.get("PATH"))
	if err != nil {
		return "", err
	}
	p := prepared{x, path, s.commandEnv(x.Env)}
	if key, err := p.fingerprint(); err == nil {
		return s.execKnown(p, key)
	}
	s.profile.answered(false)
	return p.run(s.ctx, s.log)
}

// execKnown returns the answer of a command whose inputs are known.
func (s *state) execKnown(p prepared, key string) (string, error) {
	s.known = append(s.known, p)
	if out, ok := s.memo.get(memoKey{kind: memoOutput, content: key}); ok {
		s.profile.answered(true)
		return out.(string), nil
	}
	s.profile.answered(false)
	f := s.ahead.run(s.memo, p, key)
	switch {
	case s.ctx.Err() != nil:
		return "", context.Cause(s.ctx)
	case f.valid:
		return f.out, f.err
	}
	return p.run(s.ctx, s.log)
}

// run runs the command. Its output is logged line by line unless it is quiet.
func (p prepared) run(parent context.Context, log logstore.Logger) (string, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, p.path, p.Argv[1:]...)
	cmd.Args[0] = p.Argv[0]
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.env, strings.NewReader(p.stdin)
	asGroup(cmd)
	cmd.WaitDelay = outputWait
	stdout, stderr := &bounded{stop: cancel}, &bounded{stop: cancel}
	outLog, errLog := &lineLogger{log: log}, &lineLogger{log: log}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(stdout, outLog), io.MultiWriter(stderr, errLog)
	if p.quiet {
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
	fault := problem.New(fmt.Sprintf("command %q failed: %v", p.String(), err), "")
	fault.Detail = tail(stdout.String()+stderr.String(), 40)
	return "", fault
}

// commandEnv is the environment of commands: that of the evaluation, what tells where the session is, and the
// command's own; later ones win.
func (s *state) commandEnv(own []string) []string {
	env := s.env.list()
	if s.opts.TiltPort != "" {
		env = append(env, "TILT_PORT="+s.opts.TiltPort)
	}
	if s.opts.TiltHost != "" {
		env = append(env, "TILT_HOST="+s.opts.TiltHost)
	}
	if !s.env.has("TILT_DISABLE_ANALYTICS") {
		env = append(env, "TILT_DISABLE_ANALYTICS=1")
	}
	return append(env, own...)
}

// lookPath finds a program in the evaluation's PATH, which need not be the process' own.
func lookPath(name, dir, path string) (string, error) {
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

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > lines {
		all = append([]string{"…"}, all[len(all)-lines:]...)
	}
	return strings.Join(all, "\n")
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
