package session

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/api"
)

func newSessions(g *command.Global) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions that run on this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := command.DocumentWriter(output, "sessions")
			if err != nil {
				return err
			}
			all, err := flags.RunningSessions(cmd.Context(), flags.Registry())
			if err != nil {
				return err
			}
			if write != nil {
				return write(g.Stdout, all)
			}
			return printSessions(g.Stdout, all, time.Now())
		},
	}
	command.AddDocumentFlag(c, &output, []api.RunningSession{})
	return c
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
		cells := []string{s.Name, s.Command, filepath.ToSlash(s.Tiltfile), orDash(s.Context), view.Age(s.StartedAt, now), strconv.Itoa(s.PID), orDash(s.URL), resources}
		for i := range cells {
			cells[i] = text.Clean(cells[i]) // a folder's name may have a line break
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
