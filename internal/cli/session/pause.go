package session

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/pkg/api"
)

func newPause(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   "pause",
		Short: "Let no update of the running session start on its own",
		Long: `Pauses the running session, for example for a switch of branches: changed files are noted, but no update, no evaluation of the
Tiltfile and no command that watches files starts. What runs already goes on to its end, and servers, logs and port forwards go
on. What is requested works as usual, such as hone trigger and hone restart; a triggered resource takes all its changes, as the
Tiltfile declared it before the pause. hone resume ends the pause. The session stays paused when screens detach, and is not paused
when it is started again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return pause(cmd.Context(), f, g.Stdout) },
	}
	f.Add(c)
	return c
}

func newResume(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   "resume",
		Short: "End the pause of the running session",
		Long: `Ends the pause that hone pause began. If files of the Tiltfile have changed, it is evaluated once; then each resource is updated
once, with all changes that it has gathered meanwhile.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return resume(cmd.Context(), f, g.Stdout) },
	}
	f.Add(c)
	return c
}

func pause(ctx context.Context, f flags.Session, out io.Writer) error {
	session, err := f.Find(ctx)
	if err != nil {
		return err
	}
	r, err := session.Pause(ctx, true)
	switch {
	case err != nil:
		return err
	case r.Changed:
		fmt.Fprintf(out, "%s is paused: updates start only on request, until hone resume\n", session.Where())
	default:
		fmt.Fprintf(out, "%s is paused already; %s\n", session.Where(), waiting(r.Waiting))
	}
	return nil
}

func resume(ctx context.Context, f flags.Session, out io.Writer) error {
	session, err := f.Find(ctx)
	if err != nil {
		return err
	}
	r, err := session.Pause(ctx, false)
	switch {
	case err != nil:
		return err
	case r.Changed:
		fmt.Fprintf(out, "%s goes on; %s\n", session.Where(), waiting(r.Waiting))
	default:
		fmt.Fprintf(out, "%s is not paused\n", session.Where())
	}
	return nil
}

// waiting describes the work that waits in a paused session: "waiting: the Tiltfile, 3 changed files of api, web".
func waiting(p api.Paused) string {
	var parts []string
	if p.TiltfileFiles > 0 {
		parts = append(parts, words.Count(p.TiltfileFiles, "changed file")+" of the Tiltfile")
	}
	if len(p.Resources) > 0 {
		parts = append(parts, words.Count(p.Files, "changed file")+" of "+words.List(p.Resources, "resource"))
	}
	if len(parts) == 0 {
		return "nothing has changed meanwhile"
	}
	return "waiting: " + strings.Join(parts, ", ")
}
