package command

import (
	"io"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/hud/text"
)

// Global is the state that all commands share.
type Global struct {
	// Args is the command line, without the name of the program.
	Args []string
	// Stdout and Stderr are ForTerminal, or buffers.
	Stdout, Stderr io.Writer
	Terminal       *TerminalGuard
	// Secrets are the values that the command has met. All that it prints, also its error, is without them.
	Secrets Secrets
	// Debug and Verbose are flags of the same name.
	Debug, Verbose bool
}

// ForTerminal returns the writer for all that commands print to out: much of it comes from others, such as names of files and messages
// of programs, and may be made to take over the terminal.
func ForTerminal(out io.Writer) io.Writer { return text.NewWriter(out, stream.Colored(out)) }

// Editor returns the user's editor, which draws on the terminal itself.
func (g *Global) Editor(in io.Reader) editor.Editor {
	return editor.FromEnvironment(in, text.Beneath(g.Stdout), text.Beneath(g.Stderr))
}
