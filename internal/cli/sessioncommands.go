package cli

import "github.com/spf13/cobra"

// sessionCommands are the commands about sessions that run.
func sessionCommands(g *global) []*cobra.Command {
	return []*cobra.Command{newTrigger(g), newClick(g), newLogs(g), newArgs(g), newEnable(g), newDisable(g), newForwards(g), newSessions(g), newAttach(g), newStop(g), newEvents(g), newDump(g), newSnapshot(g)}
}
