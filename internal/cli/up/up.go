package up

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/session"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/state"
)

func newUp(g *command.Global) *cobra.Command {
	var f sessionFlags
	var detached bool
	c := &cobra.Command{
		Use:   "up [NAME…] [-- TILTFILE ARGS]",
		Short: "Build, deploy, and keep the cluster in step with the source tree",
		Long: `Evaluates the Tiltfile, builds and deploys what it declares, and from then on brings every changed file into the cluster.
With names, runs only these resources and what they depend on, and leaves all others as they are.

Without a Tiltfile, the session reports that, waits, and starts as soon as there is one. --session names the session: other
commands find it by this name, and the name selects this Tiltfile from any folder: hone up --session shop.

With --confirm, the session changes nothing in the cluster that you have not looked at: the first deploy, an image, a changed
object, the deletion of what left the Tiltfile wait until you confirm the plan that P shows on the screen. hone trigger does
not confirm what waits. Saved files are still copied into running containers.

In a terminal the screen shows every resource; otherwise, or with --stream, log lines are printed as they come. With
--detach the session runs in the background: hone attach shows it, hone stop stops it, and its log keeps between 16 and
32 MiB of the newest output.`,
		Example: "  hone up\n  hone up api web\n  hone up --detach\n  hone up -f deploy/Tiltfile -- --profile=dev",
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(g, state.CommandUp, args)
			if err != nil {
				return err
			}
			if o.background = inBackground(); o.background != nil {
				o.stream, g.Stdout, g.Stderr = true, o.background, o.background
			} else if detached {
				return detach(cmd.Context(), g)
			}
			err = runSession(cmd.Context(), o)
			var busy *sessions.BusyError
			if errors.As(err, &busy) {
				return offerAttach(cmd.Context(), g, busy.Session)
			}
			return err
		},
	}
	f.add(c)
	c.Flags().BoolVar(&detached, "detach", false, "run the session in the background, and return once it has started")
	c.Flags().BoolVar(&f.confirm, "confirm", false, "update nothing but running containers, and delete nothing, before you have looked at the plan (key P) and confirmed it")
	c.Flags().BoolVar(&f.stream, "stream", false, "print log lines instead of showing the screen")
	return c
}

// offerAttach reports that the project is already running, and in a terminal offers to show it.
func offerAttach(ctx context.Context, g *command.Global, s sessions.Info) error {
	busy := problem.New(fmt.Sprintf("session %s is already running this project (pid %d, since %s)", s.Name, s.PID, s.StartedAt.Local().Format("15:04")),
		fmt.Sprintf("hone attach --session %s shows it here, hone stop --session %s ends it", s.Name, s.Name)).See("large-projects")
	if !command.Interactive() || s.Socket == "" {
		return busy
	}
	yes, err := command.Confirm(ctx, g.Stdout, busy.Summary+".\nAttach to it?")
	if err != nil {
		return err
	}
	if !yes {
		return busy
	}
	return session.Attach(ctx, g, client.Over(s), false)
}
