package cli

import "github.com/spf13/cobra"

// newAlpha holds the commands that Tilt has under the same names, for scripts that call them.
func newAlpha(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "alpha",
		Short: "Commands under the names that Tilt scripts use",
	}
	c.AddCommand(newTiltfileResult(g))
	return group(c)
}
