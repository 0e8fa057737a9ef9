// Package session holds the commands about running sessions: listing, attaching, logs, events, updates, switches, snapshots.
package session

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newTrigger(g), newClick(g), newLogs(g), newArgs(g), newEnable(g), newDisable(g), newForwards(g), newSessions(g), newAttach(g), newStop(g), newEvents(g), newDump(g), newSnapshot(g)}
}
