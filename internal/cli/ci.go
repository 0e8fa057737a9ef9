package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/state"
)

func newCI(g *global) *cobra.Command {
	var f sessionFlags
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "ci [NAME…] [-- TILTFILE ARGS]",
		Short: "Build and deploy once; succeed when everything is ready",
		Long: `Does what up does once, without watching files: exits with 0 as soon as every resource is updated and ready, and with 1
on the first failure that waiting would not mend, which is printed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(g, state.CommandCI, args)
			if err != nil {
				return err
			}
			o.stream, o.timeout = true, timeout
			return runSession(cmd.Context(), o)
		},
	}
	f.add(c)
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up after this time (default: ci_settings, else 30m)")
	return c
}
