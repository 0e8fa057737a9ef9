// Package self holds the commands about hone itself and its environment: version, doctor, verify-install, docker-prune, its
// architecture, its reference and its documentation.
package self

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

// Commands returns the commands of the package, except the subcommands of hone dump.
func Commands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newGraph(g), newDoctor(g), newVersion(g), newDockerPrune(g), newVerifyInstall(g), newDocs(g)}
}

// ReferenceCommands returns the subcommands of hone dump that print hone's reference.
func ReferenceCommands(g *command.Global) []*cobra.Command {
	return []*cobra.Command{newDumpCLIDocs(g), newDumpAPIDocs(g), newDumpJSONDocs(g), newDumpJSONSchema(g)}
}
