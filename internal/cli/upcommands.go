package cli

import "github.com/spf13/cobra"

// upCommands are hone up, hone ci and hone down.
func upCommands(g *global) []*cobra.Command {
	return []*cobra.Command{newUp(g), newCI(g), newDown(g)}
}
