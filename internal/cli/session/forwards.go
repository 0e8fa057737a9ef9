package session

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func newForwards(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   "forwards",
		Short: "List the port forwards of the running session",
		Long: `Lists the port forwards of the running session. hone forwards add and remove change them without a change of the Tiltfile,
until the session ends.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return forwards(cmd.Context(), f, g.Stdout) },
	}
	f.Add(c)
	c.AddCommand(newForwardsAdd(g), newForwardsRemove(g), newForwardsMove(g))
	return c
}

func newForwardsAdd(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   "add RESOURCE [HOST:]PORT[:PORT]",
		Short: "Forward another port to a resource of the running session",
		Long: `Forwards a local port to the pods of a resource, until the session ends or the Tiltfile declares the port. The second port is
that of the pod; without it, it is the local port if a container declares that, else the first port that one declares.`,
		Example: "  hone forwards add api 8080\n  hone forwards add api 8080:80\n  hone forwards add api 0.0.0.0:8080:80",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return chooseForward(cmd.Context(), f, g.Stdout, api.ForwardRequest{ManifestName: args[0], Add: args[1]})
		},
	}
	f.Add(c)
	c.ValidArgsFunction = completeResource(&f)
	return c
}

func newForwardsRemove(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:     "remove RESOURCE [HOST:]PORT",
		Short:   "Close a port forward of the running session",
		Long:    "Closes a port forward, given by its local port, until the session ends or the Tiltfile declares another one for the port.",
		Example: "  hone forwards remove api 8080",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return chooseForward(cmd.Context(), f, g.Stdout, api.ForwardRequest{ManifestName: args[0], Remove: args[1]})
		},
	}
	f.Add(c)
	c.ValidArgsFunction = completeResource(&f)
	return c
}

func newForwardsMove(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:     "move RESOURCE [HOST:]PORT NEWPORT",
		Short:   "Move a port forward of the running session to another local port",
		Long:    "Moves a port forward to another local port, until the session ends; the port of the pod stays.",
		Example: "  hone forwards move api 8080 8081",
		Args:    cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return chooseForward(cmd.Context(), f, g.Stdout, api.ForwardRequest{ManifestName: args[0], Remove: args[1], Add: args[2]})
		},
	}
	f.Add(c)
	c.ValidArgsFunction = completeResource(&f)
	return c
}

// completeResource completes the name of a resource as the first argument.
func completeResource(f *flags.Session) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f.CompleteSwitches(cmd, args, word)
	}
}

// chooseForward adds, removes or moves a port forward, and waits until its port is open or closed.
func chooseForward(ctx context.Context, f flags.Session, out io.Writer, r api.ForwardRequest) error {
	session, err := f.Find(ctx)
	if err != nil {
		return err
	}
	if err := session.Forward(ctx, r); err != nil {
		return err
	}
	if r.Add == "" {
		if err := closed(ctx, session, r); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: port %s is no longer forwarded\n", r.ManifestName, r.Remove)
		return nil
	}
	open, err := opened(ctx, session, r)
	switch {
	case err != nil:
		return err
	case open.State == "failed":
		return problem.New(fmt.Sprintf("resource %q: %s", r.ManifestName, open.Error), fmt.Sprintf("it is opened as soon as the port is free; to drop it: "+
			"hone forwards remove %s %s", r.ManifestName, open.Address))
	}
	to := open.Pod
	if to == "" {
		to = "no pod yet"
	}
	fmt.Fprintf(out, "%s: %s → %s\n", r.ManifestName, open.URL, to)
	return nil
}

// opened waits until the session has tried to open the port of an added or moved forward.
func opened(ctx context.Context, session *client.Client, r api.ForwardRequest) (open api.Forward, err error) {
	f, err := model.ParsePortForward(r.Add)
	if err != nil {
		return open, err // which the session would have refused
	}
	if host, _, err := net.SplitHostPort(r.Remove); err == nil {
		f.Host = host
	}
	err = poll(ctx, session, "port "+f.Address(), func(v api.View) (there bool) {
		open, there = forwardAt(v, r.ManifestName, f.Address())
		return there
	})
	return open, err
}

// closed waits until the session has closed the port of a removed forward.
func closed(ctx context.Context, session *client.Client, r api.ForwardRequest) error {
	return poll(ctx, session, "the end of port "+r.Remove, func(v api.View) bool {
		_, there := forwardAt(v, r.ManifestName, r.Remove)
		return !there
	})
}

// forwardAt returns the forward of a resource that listens on an address.
func forwardAt(v api.View, resource, address string) (f api.Forward, ok bool) {
	for _, r := range v.Resources {
		for _, f := range r.PortForwards {
			if r.Name == resource && f.Address == address {
				return f, true
			}
		}
	}
	return f, false
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
			if p.Added {
				to = strings.TrimSpace(to + " (added in this session)")
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Name, p.URL, p.State, to)
		}
	}
	if none {
		fmt.Fprintln(t, "no resource forwards a port")
	}
	return t.Flush()
}
