// Package eval is the interface between builtins and the evaluation that calls them: arguments, place, files,
// environment, commands and warnings. It is independent of the topics of the language.
package eval

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
	"github.com/hone-dev/hone/internal/tiltfile/command"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/profile"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// Evaluation is one run of a Tiltfile, as its builtins see it. It is used by one goroutine.
type Evaluation struct {
	*fault.Sources
	// Context ends the evaluation.
	Context context.Context
	Log     logstore.Logger
	Thread  *starlark.Thread
	Env     *value.Environ
	Memo    *memo.Memo
	// Profile measures the calls; nil measures nothing.
	Profile *profile.Profiler
	// Await is told what the evaluation waits for; it may be nil.
	Await func(what string) (over func())
	// Commands runs commands. It is nil before the program runs.
	Commands *command.Runner
	// Cluster knows the version and the APIs of the session's own cluster, and Declared finds the same for a cluster that the program
	// has declared, by its name.
	Cluster  *Served
	Declared func(name string) (*Served, error)
	// OnText receives every text that the program reads or makes; it may be nil.
	OnText func(text string)
	// OnSecrets receives values that nothing must show; it may be nil.
	OnSecrets func([]model.Secret)
	// Running holds the files being executed, innermost last.
	Running []string
	// Folders maps the paths of embedded extensions to the folders of their files. The folder of an extension that
	// consists only of its Tiltfile need not exist.
	Folders map[string]string
	// Copies is the folder for copies of extensions, whose files are not the user's.
	Copies string
	// files are the files and folders that the evaluation depends on, pathBytes the length of their paths.
	files     map[string]bool
	pathBytes int
	Read      map[string]uint64 // as model.Tiltfile.Read
	named     map[string]bool   // files that commands name
	Warnings  []string
	// WarnLater keeps warnings out of the log.
	WarnLater bool
	// Variables are additional environment variables of commands, "K=V".
	Variables []string
}

// New returns a new evaluation. env is its environment as "K=V".
func New(ctx context.Context, files *fault.Sources, log logstore.Logger, env []string) *Evaluation {
	return &Evaluation{Sources: files, Context: ctx, Log: log, Env: value.NewEnviron(env), files: map[string]bool{}, Read: map[string]uint64{}, named: map[string]bool{},
		Thread: &starlark.Thread{Name: files.Main, Print: func(_ *starlark.Thread, msg string) { log.Write(logstore.LevelInfo, msg+"\n") }}}
}

// file is the file being executed. Relative paths start from its folder.
func (e *Evaluation) file() string {
	if len(e.Running) == 0 {
		return e.Main
	}
	return e.Running[len(e.Running)-1]
}

// Dir is the folder of the file being executed.
func (e *Evaluation) Dir() string {
	if dir, ok := e.Folders[e.file()]; ok {
		return dir
	}
	return filepath.Dir(e.file())
}

// Abs resolves a path of the Tiltfile.
func (e *Evaluation) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir(), path)
}

// ReadFile reads a file. The evaluation depends on the file from then on, whether it exists or not.
func (e *Evaluation) ReadFile(path string) ([]byte, error) { return e.ReadUpTo(path, file.Most) }

// ReadUpTo is ReadFile for files of at most most bytes. It records the hash of the content in Read.
func (e *Evaluation) ReadUpTo(path string, most int) ([]byte, error) {
	e.DependOn(path)
	data, err := file.Read(path, most)
	switch {
	case err == nil:
		e.Read[path] = xxh3.Hash(data)
	case errors.Is(err, fs.ErrNotExist):
		e.Read[path] = 0
	}
	return data, err
}

// Warn warns the user of a probable mistake.
func (e *Evaluation) Warn(at fault.Site, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if at.Line > 0 {
		msg = fmt.Sprintf("%s:%d: %s", at.File, at.Line, msg)
	}
	e.Warnings = append(e.Warnings, msg)
	if !e.WarnLater {
		logstore.Warnf(e.Log, "%s", msg)
	}
}

// mostPaths bounds the paths that an evaluation depends on, in bytes: a loop without an end would name millions of them.
const mostPaths = 8 << 20

// DependOn records files and folders that the evaluation depends on: their change makes it out of date. They need not
// exist. Beyond mostPaths, it stops the program.
func (e *Evaluation) DependOn(paths ...string) {
	for _, p := range paths {
		if e.files[p] {
			continue
		}
		if e.pathBytes += len(p); e.pathBytes > mostPaths {
			e.Thread.Cancel(fmt.Sprintf("the program has named %d files and folders to read or watch, which is more than a Tiltfile may name", len(e.files)))
			return
		}
		e.files[p] = true
	}
}

// ConfigFiles are the files and folders that the evaluation depends on, sorted.
func (e *Evaluation) ConfigFiles() []string { return slices.Sorted(maps.Keys(e.files)) }

// Named notes files that a command of the program names.
func (e *Evaluation) Named(paths []string) {
	for _, p := range paths {
		e.named[p] = true
	}
}

// Unwatched are the files that commands name and on which the evaluation does not depend, sorted.
func (e *Evaluation) Unwatched() (paths []string) {
	for _, p := range slices.Sorted(maps.Keys(e.named)) {
		above := p
		for !e.files[above] && above != filepath.Dir(above) {
			above = filepath.Dir(above)
		}
		if !e.files[above] {
			paths = append(paths, p)
		}
	}
	return paths
}

// Exec runs a command to its end and returns its standard output. It looks for the program in the PATH of the
// evaluation, which may differ from the process's own.
func (e *Evaluation) Exec(c command.Command) (string, error) {
	path, err := command.LookPath(c.Argv[0], c.Dir, e.Env.Getenv("PATH"))
	if err != nil {
		return "", err
	}
	c.Path, c.Environ = path, e.commandEnv(c.Env)
	e.Hide(c.Program(), c.Env)
	over := e.Awaiting(c.Program() + ", which the Tiltfile runs")
	out, err := e.Commands.Run(c)
	over()
	e.Learn(out)
	return out, err
}

// Awaiting tells what the evaluation waits for, until over is called.
func (e *Evaluation) Awaiting(what string) (over func()) {
	if e.Await == nil {
		return func() {}
	}
	return e.Await(what)
}

// Learn passes a text that the program has obtained to OnText.
func (e *Evaluation) Learn(text string) {
	if e.OnText != nil {
		e.OnText(text)
	}
}

// Hide passes the credentials among variables ("K=V") of an owner, such as a command, to OnSecrets.
func (e *Evaluation) Hide(owner string, variables []string) {
	if found := model.Credentials(owner, variables); len(found) > 0 && e.OnSecrets != nil {
		e.OnSecrets(found)
	}
}

// commandEnv returns the environment of a command: the evaluation's environment, the address of the session, and the
// command's own variables; later ones win.
func (e *Evaluation) commandEnv(own []string) []string {
	env := e.Env.List()
	env = append(env, e.Variables...)
	if !e.Env.Has("TILT_DISABLE_ANALYTICS") {
		env = append(env, "TILT_DISABLE_ANALYTICS=1")
	}
	return append(env, own...)
}

// AbsAll resolves paths against the running file's folder.
func (e *Evaluation) AbsAll(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = e.Abs(p)
	}
	return out
}

// Cmd returns a command that runs in a folder, by default the folder of the running file.
func (e *Evaluation) Cmd(a value.Argv, dir string, env value.TextMap, echoOff bool) model.Cmd {
	if len(a.Words) == 0 {
		return model.Cmd{}
	}
	return model.Cmd{Argv: a.Words, Dir: e.Abs(dir), Env: env.Env(), EchoOff: echoOff}
}

// WithEnv adds the variables that the Tiltfile changed to a command; the command's own win.
func (e *Evaluation) WithEnv(cmd model.Cmd) model.Cmd {
	if cmd.Empty() {
		return cmd
	}
	changed := slices.DeleteFunc(e.Env.Changed(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(cmd.Env, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	})
	cmd.Env = append(changed, cmd.Env...)
	return cmd
}

// UsersSite is the innermost place of a call that is in a file of the user; copies of extensions are not the user's. If
// that place is in a function, from names the line of the root Tiltfile that called it.
func (e *Evaluation) UsersSite(at fault.Site) (users fault.Site, from string) {
	if at.Calls == nil {
		return at, ""
	}
	stack, users := *at.Calls, at
	for i := range len(stack) {
		if pos := stack.At(i).Pos; fault.InProgram(pos) && !extension.IsEmbeddedPath(pos.Filename()) && !model.IsChild(e.Copies, pos.Filename()) {
			users = fault.SiteOf(pos)
			break
		}
	}
	for i := range len(stack) {
		if outer := fault.SiteOf(stack.At(i).Pos); outer.File == e.Main && i+1 == len(stack) && outer.Line != users.Line {
			from = fmt.Sprintf(" (called from line %d of %s)", outer.Line, filepath.Base(outer.File))
		}
	}
	return users, from
}

// callSite is the innermost place of the user's program that has been reached.
func (e *Evaluation) callSite() fault.Site {
	stack := make(starlark.CallStack, 0, e.Thread.CallStackDepth())
	for i := e.Thread.CallStackDepth() - 1; i >= 0; i-- {
		stack = append(stack, e.Thread.CallFrame(i))
	}
	if len(stack) > 0 && !fault.InProgram(stack.At(0).Pos) {
		stack.Pop() // the builtin
	}
	at := fault.Innermost(stack)
	if at.File == "" {
		return fault.Site{File: e.file()}
	}
	at.Calls = &stack
	return at
}

// Bind makes a Starlark builtin from a function.
func (e *Evaluation) Bind(name string, fn Function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		c := &Call{Evaluation: e, Name: name, Args: args, Kwargs: kwargs}
		e.Profile.Enter()
		v, err := fn(c)
		e.Leave(name)
		if err == nil && v == nil {
			v = starlark.None
		}
		return v, c.blame(err)
	})
}

// Remembered is memo.Recall for the goroutine of an evaluation. It also updates the profile.
func Remembered[V any](e *Evaluation, key memo.Key, make func() (V, error)) (V, error) {
	v, known, err := memo.Recall(e.Memo, key, make)
	e.Profile.Answered(known)
	return v, err
}

// Leave tells the profile that a call has returned.
func (e *Evaluation) Leave(name string) {
	e.Profile.Leave(name, func() (file string, line int) {
		at := e.callSite()
		return at.File, at.Line
	})
}
