package cli

import "github.com/spf13/cobra"

// objectCommands are the commands that kubectl has, too.
func objectCommands(g *global) []*cobra.Command {
	return []*cobra.Command{newGet(g), newDescribe(g), newExplain(g), newWait(g), newPatch(g), newEdit(g), newApply(g), newCreate(g), newDelete(g), newAPIResources(g)}
}
