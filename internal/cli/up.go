package cli

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/state"
)

func newUp(g *global) *cobra.Command {
	var f sessionFlags
	c := &cobra.Command{
		Use:   "up [NAME…] [-- TILTFILE ARGS]",
		Short: "Build, deploy, and keep the cluster in step with the source tree",
		Long: `Evaluates the Tiltfile, builds and deploys what it declares, and from then on brings every change of a file into the
cluster. With names only these resources, and what they depend on, take part.

In a terminal the screen shows every resource; otherwise, or with --stream, log lines are printed as they come.`,
		Example: "  hone up\n  hone up api web\n  hone up -f deploy/Tiltfile -- --profile=dev",
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(g, state.CommandUp, args)
			if err != nil {
				return err
			}
			return runSession(cmd.Context(), o)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.stream, "stream", false, "print log lines instead of showing the screen")
	return c
}
