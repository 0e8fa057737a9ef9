package command

import (
	"io"
)

// Global is what all commands share.
type Global struct {
	// Args is the command line, without the name of the program.
	Args           []string
	Stdout, Stderr io.Writer
	Terminal       *TerminalGuard
	// Debug and Verbose are flags of the same name.
	Debug, Verbose bool
}
