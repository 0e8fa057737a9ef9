package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newTrigger(g *global) *cobra.Command {
	var f targetFlags
	c := &cobra.Command{
		Use:     "trigger NAME…",
		Short:   "Update resources of the running session now",
		Long:    "Asks the running session to update the resources now; (Tiltfile) evaluates the Tiltfile.",
		Example: "  hone trigger api\n  hone trigger '(Tiltfile)'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := f.find(cmd.Context())
			if err != nil {
				return err
			}
			if err := session.Trigger(cmd.Context(), args); err != nil {
				return err
			}
			for _, name := range args {
				fmt.Fprintf(g.stdout, "Successfully triggered update for resource: %q\n", name)
			}
			return nil
		},
	}
	f.add(c)
	c.ValidArgsFunction = f.completeResources
	return c
}
