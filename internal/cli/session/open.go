package session

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/hud"
)

func newOpen(g *command.Global) *cobra.Command {
	var f flags.Session
	print := false
	c := &cobra.Command{
		Use:   "open [RESOURCE]",
		Short: "Open the web page of the running session",
		Long: `Opens the web page of the running session in a browser, with a resource if one is named; like key O on the screen.

The address that is opened lets one browser in, once, and for a minute. From then on the browser has a cookie of this session,
until the session ends.`,
		Example: "  hone open\n  hone open api\n  hone open --print",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			resource := ""
			if len(args) > 0 {
				resource = args[0]
			}
			ticket, err := session.Ticket(cmd.Context(), resource)
			if err != nil {
				return err
			}
			if print {
				fmt.Fprintln(g.Stdout, ticket.URL)
				return nil
			}
			if err := hud.OpenBrowser(cmd.Context(), ticket.URL); err != nil {
				return problem.Wrap(err, "cannot open a browser", "open this address yourself within a minute: "+ticket.URL)
			}
			fmt.Fprintln(g.Stdout, "Opened the page of", session.Where())
			return nil
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&print, "print", false, "print the address instead of opening it; it is valid once, for a minute")
	c.ValidArgsFunction = f.CompleteResources
	return c
}
