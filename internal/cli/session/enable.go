package session

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/pkg/api"
)

func newEnable(g *command.Global) *cobra.Command {
	f := switchFlags{request: api.SwitchRequest{State: api.StateEnabled}}
	c := &cobra.Command{
		Use:   "enable [NAME…]",
		Short: "Enable resources of the running session",
		Long: `Enables resources that the Tiltfile's arguments or hone disable have switched off: they start as if they were new. They stay
enabled until hone disable, or until the Tiltfile gets other arguments.`,
		Example: "  hone enable frontend backend\n  hone enable --only frontend\n  hone enable --labels web\n  hone enable --all",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g.Stdout, args) },
	}
	f.add(c)
	c.Flags().BoolVar(&f.request.Only, "only", false, "disable all other resources")
	return c
}
