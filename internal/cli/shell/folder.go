package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/pkg/api"
)

// inFolder runs on this machine, where a local resource runs.
func (w *work) inFolder(ctx context.Context, f api.ShellFolder) error {
	if !w.here {
		return problem.New(w.at.Resource+" runs on the machine of the session, which is not this one", "log in there, and run hone shell "+w.at.Resource)
	}
	if info, err := os.Stat(f.Dir); f.Dir != "" && (err != nil || !info.IsDir()) {
		return problem.New(fmt.Sprintf("the folder of %s does not exist: %s", w.at.Resource, f.Dir), "create it, or correct dir= or serve_dir= in the Tiltfile")
	}
	argv := w.or(userShell())
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = f.Dir, append(os.Environ(), f.Env...)
	if f.Dir != "" {
		c.Env = append(c.Env, "PWD="+f.Dir)
	}
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if onTerminal() && len(w.argv) == 0 {
		c.Stderr = os.Stdout // shells write their prompt there
		w.greet(&streams{tty: true, out: os.Stdout}, cwd(f.Dir))
	}
	err := editor.Run(c)
	if onTerminal() {
		w.global.Terminal.Cook() // a program that was killed leaves the terminal as it was for the program
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return command.AlreadyPrinted(err, codeOf(exit))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return command.WithCode(problem.New(fmt.Sprintf("this machine has no program %q", argv[0]), "install it, or set SHELL to the shell that you use"), notFound)
	}
	return fmt.Errorf("run %s: %w", argv[0], err)
}

// notFound is the exit code for a command that does not exist.
const notFound = 127

// cwd returns the folder that a program runs in.
func cwd(dir string) string {
	if dir != "" {
		return dir
	}
	dir, _ = os.Getwd()
	return dir
}

// codeOf returns the exit code as shells report it.
func codeOf(exit *exec.ExitError) int {
	if st, ok := exit.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal())
	}
	return exit.ExitCode()
}

// userShell returns the shell that the user prefers.
func userShell() string {
	name, standard := "SHELL", "/bin/sh"
	if runtime.GOOS == "windows" {
		name, standard = "COMSPEC", "cmd.exe"
	}
	if s := os.Getenv(name); s != "" {
		return s
	}
	return standard
}
