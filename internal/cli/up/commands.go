// Package up holds hone up, hone ci, hone down and hone preview, and wires a session from its parts.
//
// # Concurrency
//
// A session's goroutines belong to the engine. The other goroutines (publishing the start, remembering the project,
// collecting garbage in pauses) end before runSession returns.
package up

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newUp(g), newCI(g), newDown(g), newPreview(g), newDeploy(g), newDrift(g), newGC(g), newRollback(g), newHistory(g), newState(g), newForget(g), newAdopt(g)}
}
