// Package tiltfiles holds the commands about a Tiltfile without a session: evaluating it, its language server, extensions.
package tiltfiles

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newInit(g), newTiltfile(g), newAlpha(g), newLSP(g), newExtensions(g)}
}
