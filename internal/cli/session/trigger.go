package session

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
)

func newTrigger(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:     "trigger NAME…",
		Short:   "Update resources of the running session now",
		Long:    "Updates the resources of the running session now; (Tiltfile) evaluates the Tiltfile.",
		Example: "  hone trigger api\n  hone trigger '(Tiltfile)'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			if err := session.Trigger(cmd.Context(), args); err != nil {
				return err
			}
			for _, name := range args {
				fmt.Fprintf(g.Stdout, "Successfully triggered update for resource: %q\n", name)
			}
			return nil
		},
	}
	f.Add(c)
	c.ValidArgsFunction = f.CompleteResources
	return c
}
