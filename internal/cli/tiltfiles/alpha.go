package tiltfiles

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

// newAlpha returns the group of commands that Tilt has under the same names, for scripts that call them.
func newAlpha(g *command.Global) *cobra.Command {
	c := &cobra.Command{
		Use:   "alpha",
		Short: "Commands under the names that Tilt scripts use",
	}
	c.AddCommand(newTiltfileResult(g))
	return command.Group(c)
}
