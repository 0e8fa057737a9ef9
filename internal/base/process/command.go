package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// The grace periods that hold when Command.Grace is zero.
const (
	DefaultRunGrace   = 10 * time.Second
	DefaultServeGrace = 30 * time.Second
)

// Command is a command and what it is connected to.
type Command struct {
	// Cmd is what to run: its environment is added to this process' own and to ExtraEnv, and wins over both. A program
	// without a slash is looked up in the PATH that results.
	model.Cmd
	// Stdin is empty when nil. Unless it is an *os.File, its Read must not block once the command has ended.
	Stdin io.Reader
	// Stdout and Stderr get the output as it comes; nil throws it away. When they are the same writer its Write is
	// called by one goroutine only, and the order of the output is kept.
	Stdout io.Writer
	Stderr io.Writer
	// Grace is the time between SIGTERM and SIGKILL; zero means DefaultRunGrace or DefaultServeGrace.
	Grace time.Duration
	// ExtraEnv ("K=V") is added to this process' environment, of which the variables that Without names are left out.
	ExtraEnv []string
	Without  []string
	// Plain leaves out the hints by which programs write colours into a pipe: set it when a program reads the output.
	Plain bool
}

// environment returns the variables for the command, the last of a name counting.
func (c Command) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(c.Without, name)
	})
	env = append(env, c.ExtraEnv...)
	env = append(env, c.Env...)
	env = append(env, theGuard.environment()...)
	if c.Dir != "" {
		env = append(env, "PWD="+c.Dir)
	}
	return append(env, hints(env, c.Plain)...)
}

// hints returns variables that make programs write at once and in colour, where the user has not decided otherwise.
func hints(env []string, plain bool) []string {
	var out []string
	add := func(name string) {
		if _, set := lookupEnv(env, name); !set {
			out = append(out, name+"=1")
		}
	}
	add("PYTHONUNBUFFERED")
	if none, _ := lookupEnv(env, "NO_COLOR"); none == "" && !plain {
		add("FORCE_COLOR")
		add("CLICOLOR_FORCE")
	}
	return out
}

// lookupEnv returns the last value of a variable.
func lookupEnv(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, _ := strings.Cut(env[i], "="); k == name {
			return v, true
		}
	}
	return "", false
}

// prepare finds the program and makes the command ready, all but its files.
func (c Command) prepare() (*exec.Cmd, error) {
	if c.Empty() {
		return nil, errors.New("run: the command is empty")
	}
	env := c.environment()
	program, err := findProgram(c.Argv[0], env)
	if err != nil {
		return nil, c.startProblem(err)
	}
	cmd := exec.Command(program, c.Argv[1:]...)
	cmd.Args[0] = c.Argv[0]
	cmd.Dir = c.Dir
	cmd.Env = env
	return cmd, nil
}

// startProblem says why the command cannot be started, and what to do about it.
func (c Command) startProblem(err error) error {
	name := c.Argv[0]
	summary := fmt.Sprintf("cannot run %q", c.String())
	if c.Dir != "" {
		if info, statErr := os.Stat(c.Dir); statErr != nil || !info.IsDir() {
			return problem.Wrap(fmt.Errorf("folder %s does not exist", c.Dir), summary,
				"Create the folder, or correct the dir of the command.")
		}
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return problem.Wrap(fmt.Errorf("%s: %w", name, exec.ErrNotFound), summary,
			fmt.Sprintf("Install %s, or add the folder that holds it to PATH.", name))
	case errors.Is(err, os.ErrNotExist) && c.exists(name):
		return problem.Wrap(fmt.Errorf("%s: the interpreter in its first line does not exist", name), summary,
			fmt.Sprintf("Correct the line that starts with #! in %s; line breaks of Windows there are a common cause.", name))
	case errors.Is(err, os.ErrNotExist):
		return problem.Wrap(fmt.Errorf("%s does not exist", name), summary,
			"Correct the path of the command; it counts from the command's dir.")
	case errors.Is(err, os.ErrPermission):
		return problem.Wrap(err, summary, "Make the file executable:\nchmod +x "+name)
	case errors.Is(err, syscall.ENOEXEC):
		return problem.Wrap(err, summary, fmt.Sprintf("Put #!/bin/sh into the first line of %s, or build it for this machine.", name))
	}
	return fmt.Errorf("%s: %w", summary, err)
}

func (c Command) exists(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.Dir, name)
	}
	_, err := os.Stat(name)
	return err == nil
}
