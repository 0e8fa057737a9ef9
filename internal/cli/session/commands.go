// Package session holds the commands about running sessions: listing, attaching, logs, events, updates, switches, snapshots.
package session

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/shell"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newTrigger(g), newRestart(g), newClick(g), newLogs(g), newArgs(g), newEnable(g), newDisable(g), newPause(g), newResume(g), newForwards(g), newSessions(g), newAttach(g), newStop(g), shell.New(g), newEvents(g), newDump(g), newSnapshot(g)}
}
