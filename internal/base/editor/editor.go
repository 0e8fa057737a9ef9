// Package editor lets users edit and read text in the programs that they prefer for that, and runs programs that take over the
// terminal.
package editor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Variables are the environment variables that name the editor, in the order in which they count.
var Variables = []string{"TILT_EDITOR", "KUBE_EDITOR", "VISUAL", "EDITOR"}

// Editor is a command line for an editor.
type Editor struct {
	Command string
	// In, Out and Err are the terminal.
	In       io.Reader
	Out, Err io.Writer
	// lastWords, unless zero, bounds the time that the editor may take to end after its terminal was taken away.
	lastWords time.Duration
}

// FromEnvironment returns the editor that the environment names, or the system's default (vi, on Windows notepad).
func FromEnvironment(in io.Reader, out, err io.Writer) Editor {
	e := Editor{Command: "vi", In: in, Out: out, Err: err}
	if runtime.GOOS == "windows" {
		e.Command = "notepad"
	}
	for _, name := range Variables {
		if v := strings.TrimSpace(os.Getenv(name)); v != "" {
			e.Command = v
			break
		}
	}
	return e
}

// Edit opens a file with the text in the editor and returns the edited text. The file is named by pattern, as in
// os.CreateTemp. The caller must remove it.
func (e Editor) Edit(ctx context.Context, pattern string, text []byte) (edited []byte, path string, err error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return nil, "", fmt.Errorf("create a file to edit: %w", err)
	}
	path = f.Name()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = e.Open(ctx, path, 0)
	}
	if err == nil {
		edited, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, path, fmt.Errorf("edit: %w", err)
	}
	return edited, path, nil
}

// Open opens a file in the editor, at a line unless that is 0, and waits until the editor has ended. When ctx ends, the editor
// is asked to save its texts, and gets a moment for it.
func (e Editor) Open(ctx context.Context, path string, line int) error {
	name, args := shell(e.Command, e.at(path, line)...)
	if e.needsTerminal() && !isTerminal(e.In) {
		return problem.New(fmt.Sprintf("the editor %s needs a terminal, and standard input is none", e.program()),
			"for a program that edits the file without one: export TILT_EDITOR=PROGRAM")
	}
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = e.In, e.Out, e.Err, e.lastWords
	if err := Run(c); err != nil {
		return problem.Wrap(err, fmt.Sprintf("the editor %q has failed", e.Command), "choose another: export EDITOR=nano")
	}
	return nil
}

// inTerminal are editors that show the text in the terminal. Without one, some of them wait for keys for ever.
var inTerminal = []string{"vi", "vim", "nvim", "view", "nano", "pico", "micro", "kak", "joe", "jed", "mg", "ne", "vise", "hx", "helix"}

func (e Editor) needsTerminal() bool { return slices.Contains(inTerminal, e.program()) }

// program returns the name of the editor's program.
func (e Editor) program() string {
	path, _, _ := strings.Cut(e.Command, " ")
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}

// isTerminal reports whether a program reads keys from in.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// at returns the arguments that open a file at a line. Most editors of the terminal take +LINE; others have a form of their
// own.
func (e Editor) at(path string, line int) []string {
	if line <= 0 {
		return []string{path}
	}
	switch e.program() {
	case "code", "code-insiders", "codium", "cursor", "windsurf":
		return []string{"--goto", fmt.Sprintf("%s:%d", path, line)}
	case "subl", "zed", "hx", "helix":
		return []string{fmt.Sprintf("%s:%d", path, line)}
	case "idea", "goland", "pycharm", "webstorm", "rubymine", "clion", "rider", "phpstorm":
		return []string{"--line", strconv.Itoa(line), path}
	case "emacs", "emacsclient":
		return []string{fmt.Sprintf("+%d", line), path}
	}
	if e.needsTerminal() {
		return []string{fmt.Sprintf("+%d", line), path}
	}
	return []string{path}
}

// shell returns the command line that runs a program with arguments. The shell splits the program's own command, which may
// contain quotes.
func shell(command string, args ...string) (string, []string) {
	if runtime.GOOS == "windows" {
		words := strings.Fields(command)
		return words[0], append(words[1:], args...)
	}
	return "sh", append([]string{"-c", command + ` "$@"`, "hone"}, args...)
}
