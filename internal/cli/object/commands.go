// Package object holds the commands that read and change the API objects of a running session, as kubectl does: get, describe,
// wait, apply and the others.
package object

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newGet(g), newDescribe(g), newExplain(g), newWait(g), newPatch(g), newEdit(g), newApply(g), newCreate(g), newDelete(g), newAPIResources(g)}
}
