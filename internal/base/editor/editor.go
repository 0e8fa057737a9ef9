// Package editor lets users edit text in their preferred editor.
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
	"strings"

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
		err = e.run(ctx, path)
	}
	if err == nil {
		edited, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, path, fmt.Errorf("edit: %w", err)
	}
	return edited, path, nil
}

func (e Editor) run(ctx context.Context, path string) error {
	name, args := shell(e.Command, path)
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin, c.Stdout, c.Stderr = e.In, e.Out, e.Err
	if err := c.Run(); err != nil {
		return problem.Wrap(err, fmt.Sprintf("the editor %q has failed", e.Command), "choose another: export EDITOR=nano")
	}
	return nil
}

// shell returns the command line that runs an editor on a file. The shell splits the editor's command, which may
// contain quotes.
func shell(command, path string) (string, []string) {
	if runtime.GOOS == "windows" {
		words := strings.Fields(command)
		return words[0], append(words[1:], filepath.Clean(path))
	}
	return "sh", []string{"-c", command + ` "$1"`, "hone", path}
}
