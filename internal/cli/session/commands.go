// Package session holds the commands about running sessions: listing, attaching, logs, events, updates, switches, snapshots.
//
// An attached terminal lends itself to whoever runs the session: to its user's editor and pager on files that the user can
// read, to the browser, to shells in resources, and to the commands of the user's own. It runs only commands that are in the
// user's own screen.yaml, with facts for variables. But the session can start them: it draws the screen and takes the keys, so that
// a question before a command (confirm) is the session's too. A client that looked for the answer among the keys could be misled
// by what the screen shows.
package session

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/shell"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newTrigger(g), newRestart(g), newClick(g), newLogs(g), newOpen(g), newArgs(g), newEnable(g), newDisable(g), newPause(g), newResume(g), newConfirm(g), newForwards(g), newSessions(g), newAttach(g), newStop(g), shell.New(g), newEvents(g), newDump(g), newSnapshot(g)}
}
