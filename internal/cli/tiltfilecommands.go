package cli

import "github.com/spf13/cobra"

// tiltfileCommands are the commands about a Tiltfile.
func tiltfileCommands(g *global) []*cobra.Command {
	return []*cobra.Command{newTiltfile(g), newAlpha(g), newLSP(g), newExtensions(g)}
}
