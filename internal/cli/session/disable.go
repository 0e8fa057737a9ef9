package session

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/pkg/api"
)

func newDisable(g *command.Global) *cobra.Command {
	f := switchFlags{request: api.SwitchRequest{State: api.StateDisabled}}
	c := &cobra.Command{
		Use:   "disable [NAME…]",
		Short: "Disable resources of the running session",
		Long: `Disables resources: their servers and commands end, their port forwards close, and their objects are deleted from the
cluster. They stay disabled until hone enable, or until the Tiltfile gets other arguments. (Tiltfile) cannot be disabled.`,
		Example: "  hone disable frontend backend\n  hone disable --labels web\n  hone disable --all",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g.Stdout, args) },
	}
	f.add(c)
	return c
}
