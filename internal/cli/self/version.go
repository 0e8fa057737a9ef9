package self

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

func newVersion(g *command.Global) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, with the commit and its date",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(g.Stdout, command.VersionText())
			return err
		},
	}
}
