package session

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
)

func newTrigger(g *command.Global) *cobra.Command {
	var f flags.Session
	noCache := false
	c := &cobra.Command{
		Use:   "trigger NAME…",
		Short: "Update resources of the running session now",
		Long: `Updates the resources of the running session now; (Tiltfile) evaluates the Tiltfile. In a session of hone up --confirm, an update that
changes more than what runs still waits until you confirm it.

Where nothing has changed, the pods are replaced: the rollout of a Deployment, StatefulSet or DaemonSet is restarted. A Job or a bare
pod is deleted and created, since only a new one runs again. The log says which.

With --no-cache, a resource is rebuilt from scratch: its images are built without the builder's cache, nothing is updated in
place, its objects are deployed again, and all its pods are replaced. A local resource runs its command, and its server starts
again. What custom_build runs decides for itself what it caches.`,
		Example: "  hone trigger api\n  hone trigger --no-cache api\n  hone trigger '(Tiltfile)'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			return Trigger(cmd.Context(), session, g.Stdout, args, noCache)
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&noCache, "no-cache", false, "rebuild from scratch: build images without a cache, and replace all pods")
	c.ValidArgsFunction = f.CompleteResources
	return c
}

// Trigger requests updates of resources, and prints that.
func Trigger(ctx context.Context, session *client.Client, out io.Writer, names []string, noCache bool) error {
	trigger := session.Trigger
	if noCache {
		trigger = session.Rebuild
	}
	if err := trigger(ctx, names); err != nil {
		return err
	}
	for _, name := range names {
		fmt.Fprintf(out, "Successfully triggered update for resource: %q\n", name)
	}
	return sayUnconfirmed(ctx, session, out, names)
}

// sayUnconfirmed lists the named resources whose updates wait until the user confirms the plan.
func sayUnconfirmed(ctx context.Context, session *client.Client, out io.Writer, names []string) error {
	v, err := session.View(ctx)
	if err != nil {
		return err
	}
	for _, r := range v.Resources {
		if slices.Contains(names, r.Name) && r.Waiting != nil && r.Waiting.Reason == string(buildcontrol.HoldConfirm) {
			fmt.Fprintf(out, "%s waits for you to confirm it: hone confirm\n", r.Name)
		}
	}
	return nil
}
