package cli

import "github.com/spf13/cobra"

// selfCommands are the commands about hone itself.
func selfCommands(g *global) []*cobra.Command {
	return []*cobra.Command{newGraph(g), newDoctor(g), newVersion(g), newDockerPrune(g), newVerifyInstall(g)}
}

// referenceCommands are the parts of hone dump that print hone's reference.
func referenceCommands(g *global) []*cobra.Command {
	return []*cobra.Command{newDumpCLIDocs(g), newDumpAPIDocs(g)}
}
