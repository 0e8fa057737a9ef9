package tiltfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/pkg/model"
)

// evaluation is one run of a Tiltfile, as its builtins see it. It is used by one goroutine.
type evaluation struct {
	*sources
	// ctx ends the evaluation.
	ctx    context.Context
	log    logstore.Logger
	thread *starlark.Thread
	env    *environ
	memo   *Memo
	// profile measures the calls; nil measures nothing.
	profile *profiler
	// commands runs commands. It is nil before the program runs.
	commands *runner
	// learn is told of every text that the program comes by; nil does without.
	learn func(text string)
	// running holds the files being executed, innermost last.
	running []string
	// folders maps the paths of embedded extensions to the folders of their files; a folder need not exist for an extension
	// that consists of its Tiltfile only.
	folders map[string]string
	// copies is the folder that holds copies of extensions, whose files are not the user's.
	copies string
	// files are those that the evaluation depends on.
	files    map[string]bool
	read     map[string]uint64 // as model.Tiltfile.Read
	warnings []string
	// warnLater keeps warnings from the log.
	warnLater bool
	// variables are further ones that commands get, "K=V".
	variables []string
}

// newEvaluation returns an evaluation that has not begun. env is its environment as "K=V".
func newEvaluation(ctx context.Context, files *sources, log logstore.Logger, env []string) *evaluation {
	return &evaluation{sources: files, ctx: ctx, log: log, env: newEnviron(env), files: map[string]bool{}, read: map[string]uint64{},
		thread: &starlark.Thread{Name: files.main, Print: func(_ *starlark.Thread, msg string) { log.Write(logstore.LevelInfo, msg+"\n") }}}
}

// file is the file being executed: the one whose folder relative paths start from.
func (e *evaluation) file() string {
	if len(e.running) == 0 {
		return e.main
	}
	return e.running[len(e.running)-1]
}

// dir is the folder of the file being executed.
func (e *evaluation) dir() string {
	if dir, ok := e.folders[e.file()]; ok {
		return dir
	}
	return filepath.Dir(e.file())
}

// abs resolves a path of the Tiltfile.
func (e *evaluation) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.dir(), path)
}

// readFile reads a file that the evaluation depends on, whether it exists or not.
func (e *evaluation) readFile(path string) ([]byte, error) { return e.readUpTo(path, mostFile) }

// readUpTo is readFile for files of at most so many bytes. It remembers what it has read.
func (e *evaluation) readUpTo(path string, most int) ([]byte, error) {
	e.dependOn(path)
	data, err := readBounded(path, most)
	switch {
	case err == nil:
		e.read[path] = xxh3.Hash(data)
	case errors.Is(err, fs.ErrNotExist):
		e.read[path] = 0
	}
	return data, err
}

// warn tells the user of something that is probably a mistake.
func (e *evaluation) warn(at site, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if at.line > 0 {
		msg = fmt.Sprintf("%s:%d: %s", at.file, at.line, msg)
	}
	e.warnings = append(e.warnings, msg)
	if !e.warnLater {
		logstore.Warnf(e.log, "%s", msg)
	}
}

// dependOn notes files and folders whose change makes the evaluation out of date. They need not exist.
func (e *evaluation) dependOn(paths ...string) {
	for _, p := range paths {
		e.files[p] = true
	}
}

// configFiles are the files and folders that the evaluation depends on, sorted.
func (e *evaluation) configFiles() []string { return slices.Sorted(maps.Keys(e.files)) }

// exec runs a command to its end and returns what it wrote to standard output. Its program is found in the evaluation's
// PATH, which need not be the process' own.
func (e *evaluation) exec(c command) (string, error) {
	path, err := lookPath(c.Argv[0], c.Dir, e.env.get("PATH"))
	if err != nil {
		return "", err
	}
	c.path, c.environ = path, e.commandEnv(c.Env)
	out, err := e.commands.run(c)
	e.learned(out)
	return out, err
}

// learned tells of a text that the program has come by.
func (e *evaluation) learned(text string) {
	if e.learn != nil {
		e.learn(text)
	}
}

// commandEnv is the environment of commands: that of the evaluation, what tells where the session is, and the
// command's own; later ones win.
func (e *evaluation) commandEnv(own []string) []string {
	env := e.env.list()
	env = append(env, e.variables...)
	if !e.env.has("TILT_DISABLE_ANALYTICS") {
		env = append(env, "TILT_DISABLE_ANALYTICS=1")
	}
	return append(env, own...)
}

// absAll resolves paths against the running file's folder.
func (e *evaluation) absAll(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = e.abs(p)
	}
	return out
}

// cmd returns the command in a folder, which is that of the running file where none is given.
func (e *evaluation) cmd(a argv, dir string, env textMap, echoOff bool) model.Cmd {
	if len(a.words) == 0 {
		return model.Cmd{}
	}
	return model.Cmd{Argv: a.words, Dir: e.abs(dir), Env: env.env(), EchoOff: echoOff}
}

// withEnv gives a command the variables that the Tiltfile changed; its own win.
func (e *evaluation) withEnv(cmd model.Cmd) model.Cmd {
	if cmd.Empty() {
		return cmd
	}
	changed := slices.DeleteFunc(e.env.changed(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(cmd.Env, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	})
	cmd.Env = append(changed, cmd.Env...)
	return cmd
}

// usersSite is the innermost place of a call that lies in a file of the user, which the copies of extensions are not. Where
// that is in a function, from says which line of the root Tiltfile called it.
func (e *evaluation) usersSite(at site) (users site, from string) {
	if at.calls == nil {
		return at, ""
	}
	stack, users := *at.calls, at
	for i := range len(stack) {
		if pos := stack.At(i).Pos; inProgram(pos) && !extension.IsEmbeddedPath(pos.Filename()) && !model.IsChild(e.copies, pos.Filename()) {
			users = siteOf(pos)
			break
		}
	}
	for i := range len(stack) {
		if outer := siteOf(stack.At(i).Pos); outer.file == e.main && i+1 == len(stack) && outer.line != users.line {
			from = fmt.Sprintf(" (called from line %d of %s)", outer.line, filepath.Base(outer.file))
		}
	}
	return users, from
}

// callSite is the innermost place of the user's program that has been reached.
func (e *evaluation) callSite() site {
	stack := make(starlark.CallStack, 0, e.thread.CallStackDepth())
	for i := e.thread.CallStackDepth() - 1; i >= 0; i-- {
		stack = append(stack, e.thread.CallFrame(i))
	}
	if len(stack) > 0 && !inProgram(stack.At(0).Pos) {
		stack.Pop() // the builtin
	}
	at := innermost(stack)
	if at.file == "" {
		return site{file: e.file()}
	}
	at.calls = &stack
	return at
}

// bind makes a Starlark builtin of a function.
func (e *evaluation) bind(name string, fn function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		c := &call{evaluation: e, name: name, args: args, kwargs: kwargs}
		e.profile.enter()
		v, err := fn(c)
		e.leave(name)
		if err == nil && v == nil {
			v = starlark.None
		}
		return v, c.blame(err)
	})
}

// remembered is recall for the goroutine of an evaluation, whose profile learns of it.
func remembered[V any](e *evaluation, key memoKey, make func() (V, error)) (V, error) {
	v, known, err := recall(e.memo, key, make)
	e.profile.answered(known)
	return v, err
}

// leave tells the profile that a call has returned.
func (e *evaluation) leave(name string) {
	e.profile.leave(name, func() (file string, line int) {
		at := e.callSite()
		return at.file, at.line
	})
}
