package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newForwards(g *global) *cobra.Command {
	var f targetFlags
	c := &cobra.Command{
		Use:   "forwards",
		Short: "List the port forwards of the running session",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return forwards(cmd.Context(), f, g.stdout) },
	}
	f.add(c)
	return c
}

func forwards(ctx context.Context, f targetFlags, w io.Writer) error {
	session, err := f.find(ctx)
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
