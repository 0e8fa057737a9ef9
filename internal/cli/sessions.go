package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/pkg/api"
)

// glance is how long each session may take to answer where all of them are listed.
const glance = 3 * time.Second

func newSessions(g *global) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions that run on this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := documentWriter(output, "sessions")
			if err != nil {
				return err
			}
			all, err := runningSessions(cmd.Context(), registry())
			if err != nil {
				return err
			}
			if write != nil {
				return write(g.stdout, all)
			}
			return printSessions(g.stdout, all, time.Now())
		},
	}
	addDocumentFlag(c, &output)
	return c
}

// runningSessions asks all sessions at once how they do.
func runningSessions(ctx context.Context, r *sessions.Registry) ([]api.RunningSession, error) {
	living, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	all := make([]api.RunningSession, len(living))
	var asking sync.WaitGroup
	for i, s := range living {
		all[i] = api.RunningSession{Name: s.Name, PID: s.PID, Command: s.Command, Tiltfile: s.Tiltfile, Context: s.Context,
			StartedAt: s.StartedAt, URL: s.URL, Socket: s.Socket, Kubeconfig: r.Kubeconfig(s), Log: s.Log}
		asking.Go(func() { all[i].Resources, all[i].TiltfileError, all[i].Error = count(ctx, s) })
	}
	asking.Wait()
	return all, nil
}

// count asks one session how its resources do, and what is wrong with its Tiltfile.
func count(ctx context.Context, s sessions.Info) (n *api.ResourceCounts, tiltfile, failure string) {
	if s.Socket == "" {
		return nil, "", "starting"
	}
	v, err := client.Over(s).View(ctx)
	if err != nil {
		return nil, "", "does not answer"
	}
	if v.TiltfileError != "" {
		tiltfile = strings.TrimPrefix(events.OneLine(v.TiltfileError), filepath.Dir(s.Tiltfile)+string(filepath.Separator))
	}
	n = &api.ResourceCounts{Total: len(v.Resources)}
	for _, r := range v.Resources {
		switch {
		case r.UpdateStatus == "error" || r.RuntimeStatus == "error":
			n.Failing++
		case r.UpdateStatus == "ok" && (r.RuntimeStatus == "ok" || r.RuntimeStatus == "not_applicable"):
			n.OK++
		}
	}
	return n, tiltfile, ""
}

func printSessions(w io.Writer, all []api.RunningSession, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no session is running")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tCOMMAND\tTILTFILE\tCONTEXT\tSINCE\tPID\tURL\tRESOURCES")
	for _, s := range all {
		resources := s.Error
		if n := s.Resources; n != nil {
			resources = fmt.Sprintf("%d ok, %d failing, %d in all", n.OK, n.Failing, n.Total)
		}
		if s.TiltfileError != "" {
			resources += "; ✖ " + s.TiltfileError
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", s.Name, s.Command, filepath.ToSlash(s.Tiltfile), orDash(s.Context),
			view.Age(s.StartedAt, now), s.PID, orDash(s.URL), resources)
	}
	return t.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
