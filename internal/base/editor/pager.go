package editor

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Pager is a command line for a program that shows text page by page.
type Pager struct {
	Command string
	// In, Out and Err are the terminal.
	In       io.Reader
	Out, Err io.Writer
	// FromStart shows a text from its start, as for reading, and not from its end, as for a log.
	FromStart bool
}

// PagerFromEnvironment returns the pager of PAGER, or the system's default (less, on Windows more).
func PagerFromEnvironment(in io.Reader, out, err io.Writer) Pager {
	p := Pager{Command: "less", In: in, Out: out, Err: err}
	if runtime.GOOS == "windows" {
		p.Command = "more"
	}
	if v := strings.TrimSpace(os.Getenv("PAGER")); v != "" {
		p.Command = v
	}
	return p
}

// Show shows a file, from its end unless FromStart, where the pager can, and waits until the pager has ended.
func (p Pager) Show(ctx context.Context, path string) error {
	name, args := shell(p.Command, path)
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin, c.Stdout, c.Stderr = p.In, p.Out, p.Err
	// Without options of the user: colours as they are.
	if os.Getenv("LESS") == "" {
		options := "-R"
		if !p.FromStart {
			options += " +G"
		}
		c.Env = append(os.Environ(), "LESS="+options)
	}
	if err := Run(c); err != nil {
		return problem.Wrap(err, fmt.Sprintf("the pager %q has failed", p.Command), "choose another: export PAGER=more")
	}
	return nil
}
