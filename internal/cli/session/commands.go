// Package session holds the commands about running sessions: listing, attaching, logs, events, updates, switches, snapshots.
//
// An attached terminal lends itself to the user who runs the session: to this user's editor and pager on files that the user at the
// terminal can read, to the browser, to shells in resources, and to the terminal user's own commands. It runs only commands that
// are in its user's own screen.yaml, with facts for variables. But the session can start them: it draws the screen and reads the
// keys, so that it also asks the question before a command (confirm). A client that looked for the answer among the keys could be
// misled by the screen that the session draws.
package session

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/shell"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newStatus(g), newWhy(g), newDiff(g), newTrigger(g), newRestart(g), newClick(g), newLogs(g), newOpen(g), newArgs(g), newEnable(g), newDisable(g), newPause(g), newResume(g), newConfirm(g), newForwards(g), newSessions(g), newAttach(g), newRelay(), newSettle(g), newTest(g), newStop(g), newToken(g), newKubeconfig(g), shell.New(g), newEvents(g), newDump(g), newSnapshot(g)}
}
