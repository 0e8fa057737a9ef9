package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/pkg/api"
)

func newConfirm(g *command.Global) *cobra.Command {
	var f flags.Session
	var yes bool
	c := &cobra.Command{
		Use:   "confirm",
		Short: "Look at what the running session would do, and let it",
		Long: `Shows what the running session of hone up --confirm would do in the cluster, as the API server says, asks, and lets it do that. If
the Tiltfile has changed by then, nothing is done. The key P on the screen shows the same, and y there confirms it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return confirm(cmd.Context(), g, f, yes) },
	}
	f.Add(c)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func confirm(ctx context.Context, g *command.Global, f flags.Session, yes bool) error {
	if !yes && !command.Interactive() {
		return problem.New("cannot ask whether to go on: this is not a terminal", "add --yes")
	}
	session, err := f.Find(ctx)
	if err != nil {
		return err
	}
	plan, err := session.Plan(ctx)
	if err != nil {
		return err
	}
	g.Printer(g.Stdout, g.Stderr).Write(logstore.LevelInfo, command.PlanText(plan))
	if !yes {
		if yes, err = command.Confirm(ctx, g.Stdout, "Let "+session.Where()+" do this?"); err != nil || !yes {
			return err
		}
	}
	return GoOn(ctx, session, g.Stdout, plan)
}

// GoOn lets a session carry out a plan, and prints the work that begins.
func GoOn(ctx context.Context, session *client.Client, out io.Writer, plan api.Plan) error {
	r, err := session.Confirm(ctx, plan)
	if err != nil {
		return err
	}
	what := "what is no longer declared"
	if len(r.Resources) > 0 {
		what = words.List(r.Resources, "resource")
	}
	fmt.Fprintf(out, "%s goes on with %s\n", session.Where(), what)
	return nil
}
