package session

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/pkg/api"
)

// restartFlags are the flags of hone restart.
type restartFlags struct {
	target flags.Session
	pod    bool
}

func newRestart(g *command.Global) *cobra.Command {
	var f restartFlags
	c := &cobra.Command{
		Use:   "restart NAME…",
		Short: "Restart what resources of the running session run",
		Long: `Restarts what resources of the running session run, without building or deploying anything, and waits until that is done.

Of a local resource, the serve_cmd is stopped and started. Of a service of Compose, the container is restarted. In Kubernetes,
the process in each container is restarted in place; this takes a live update with restart_process(), through which hone
supervises the process.

With --pod, the pods of the resource's newest deploy are deleted, and their controllers replace them; a pod without a controller
is applied again. Files of live updates are copied into the new containers. Pods that hone has not deployed are left alone.`,
		Example: "  hone restart api\n  hone restart --pod api worker",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g.Stdout, args) },
	}
	f.target.Add(c)
	c.Flags().BoolVar(&f.pod, "pod", false, "replace the pods, instead of restarting the processes in them")
	c.ValidArgsFunction = f.target.CompleteSwitches
	return c
}

func (f *restartFlags) run(ctx context.Context, out io.Writer, names []string) error {
	session, err := f.target.Find(ctx)
	if err != nil {
		return err
	}
	return Restart(ctx, session, out, names, f.pod)
}

// Restart restarts the processes of resources, or their pods, waits until that is done, and prints the result.
func Restart(ctx context.Context, session *client.Client, out io.Writer, names []string, pods bool) error {
	if err := session.Restart(ctx, names, pods); err != nil {
		return err
	}
	var failed error
	for _, name := range names {
		r, err := restarted(ctx, session, name)
		if err != nil {
			return err
		}
		if len(r.Done) > 0 {
			fmt.Fprintf(out, "%s: restarted %s\n", name, strings.Join(r.Done, ", "))
		}
		if r.Error != "" {
			failed = problem.New(fmt.Sprintf("resource %q: %s", name, r.Error), "hone logs "+name+" shows more")
		}
	}
	return failed
}

// pollEvery is the interval at which a session is asked whether it has finished, and pollLimit is the longest wait for it.
const (
	pollEvery = 50 * time.Millisecond
	pollLimit = time.Minute
)

// restarted waits for the end of a resource's newest restart.
func restarted(ctx context.Context, session *client.Client, name string) (r api.Restart, err error) {
	err = poll(ctx, session, fmt.Sprintf("the restart of %q", name), func(v api.View) bool {
		for _, e := range v.Resources {
			if e.Name == name && !e.Disabled {
				if e.Restart != nil {
					r = *e.Restart
				}
				return e.Restart != nil && !e.Restart.FinishedAt.IsZero()
			}
		}
		r.Error = "it has left the Tiltfile, or was disabled, meanwhile"
		return true
	})
	return r, err
}

// poll waits until the session's view meets a condition.
func poll(ctx context.Context, session *client.Client, what string, done func(api.View) bool) error {
	ctx, cancel := context.WithTimeout(ctx, pollLimit)
	defer cancel()
	for {
		v, err := session.View(ctx)
		if err != nil {
			return err
		}
		if done(v) {
			return nil
		}
		if !retry.Sleep(ctx, pollEvery) {
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}
