package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/internal/session"
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
			if output != "" && output != "json" {
				return problem.New(fmt.Sprintf("unknown output %q", output), "leave it out, or: hone sessions -o json")
			}
			all, err := runningSessions(cmd.Context(), registry())
			if err != nil {
				return err
			}
			if output == "json" {
				enc := json.NewEncoder(g.stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(all)
			}
			return printSessions(g.stdout, all, time.Now())
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "format: json for programs")
	return c
}

// runningSessions asks all sessions at once how they do.
func runningSessions(ctx context.Context, r *session.Registry) ([]api.RunningSession, error) {
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
		asking.Go(func() { all[i].Resources, all[i].Error = count(ctx, s) })
	}
	asking.Wait()
	return all, nil
}

// count asks one session how its resources do.
func count(ctx context.Context, s session.Info) (*api.ResourceCounts, string) {
	if s.Socket == "" {
		return nil, "starting"
	}
	v, err := client.Over(s).View(ctx)
	if err != nil {
		return nil, "does not answer"
	}
	n := &api.ResourceCounts{Total: len(v.Resources)}
	for _, r := range v.Resources {
		switch {
		case r.UpdateStatus == "error" || r.RuntimeStatus == "error":
			n.Failing++
		case r.UpdateStatus == "ok" && (r.RuntimeStatus == "ok" || r.RuntimeStatus == "not_applicable"):
			n.OK++
		}
	}
	return n, ""
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
