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

// The grace periods that apply if Command.Grace is zero.
const (
	DefaultRunGrace   = 10 * time.Second
	DefaultServeGrace = 30 * time.Second
)

// Command is a command with its input, output and environment.
type Command struct {
	// Cmd is the command to run. Its environment is added to the environment of this process and to ExtraEnv, and wins
	// over both. A program without a slash is looked up in the resulting PATH.
	model.Cmd
	// Stdin may be nil for no input. Unless it is an *os.File, its Read must not block once the command has ended.
	Stdin io.Reader
	// Stdout and Stderr receive the output as it arrives; nil discards it. If they are the same writer, only one
	// goroutine calls its Write, and the order of the output is kept.
	Stdout io.Writer
	Stderr io.Writer
	// Grace is the time between SIGTERM and SIGKILL; zero means DefaultRunGrace or DefaultServeGrace.
	Grace time.Duration
	// ExtraEnv ("K=V") is added to the environment of this process. Without names variables of this process to omit.
	ExtraEnv []string
	Without  []string
	// Plain omits the variables that make programs write colours into a pipe: set it if a program reads the output.
	Plain bool
	// mark marks the processes of a server, also those that leave its group; see serverMark. It is empty for other commands.
	mark string
}

// environment returns the variables for the command. The last value of a variable counts.
func (c Command) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(c.Without, name)
	})
	env = append(env, c.ExtraEnv...)
	env = append(env, c.Env...)
	env = append(env, theGuard.environment()...)
	if c.mark != "" {
		env = append(env, c.mark)
	}
	if c.Dir != "" {
		env = append(env, "PWD="+c.Dir)
	}
	return append(env, hints(env, c.Plain)...)
}

// hints returns variables that make programs write without buffering and in colour, unless the user has set them.
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

// prepare finds the program and prepares the command, except for its files.
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

// startProblem explains why the command cannot be started, with a mend.
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
			fmt.Sprintf("Install %s, or add its folder to PATH.", name))
	case errors.Is(err, os.ErrNotExist) && c.exists(name):
		return problem.Wrap(fmt.Errorf("%s: the interpreter in its first line does not exist", name), summary,
			fmt.Sprintf("Correct the line that starts with #! in %s; Windows line breaks are a common cause.", name))
	case errors.Is(err, os.ErrNotExist):
		return problem.Wrap(fmt.Errorf("%s does not exist", name), summary,
			"Correct the path of the command; it is relative to the command's dir.")
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
