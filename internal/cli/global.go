package cli

import (
	"io"
)

// global is what all commands share.
type global struct {
	args           []string
	stdout, stderr io.Writer
	terminal       *terminalGuard
	debug          bool
	verbose        bool
}
