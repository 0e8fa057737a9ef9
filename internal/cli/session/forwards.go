package session

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
)

func newForwards(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   "forwards",
		Short: "List the port forwards of the running session",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return forwards(cmd.Context(), f, g.Stdout) },
	}
	f.Add(c)
	return c
}

func forwards(ctx context.Context, f flags.Session, w io.Writer) error {
	session, err := f.Find(ctx)
	if err != nil {
		return err
	}
	v, err := session.View(ctx)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	none := true
	for _, r := range v.Resources {
		for _, p := range r.PortForwards {
			none = false
			to := p.Pod
			if p.Error != "" {
				to = p.Error
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Name, p.URL, p.State, to)
		}
	}
	if none {
		fmt.Fprintln(t, "no resource forwards a port")
	}
	return t.Flush()
}
