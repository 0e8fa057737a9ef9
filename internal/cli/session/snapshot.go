package session

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/stream"
)

func newSnapshot(g *command.Global) *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "Save the state of a session, and look at it later",
	}
	c.AddCommand(newSnapshotCreate(g), newSnapshotView(g))
	return command.Group(c)
}

func newSnapshotCreate(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   "create [FILE]",
		Short: "Write the running session's state and logs to a file",
		Long: `Writes the state of the running session, and the newest lines of each resource's log, as JSON: to FILE, or to standard
output without one. Secrets that the session knows are removed; still, read the file before you share it.

hone snapshot view shows it. hone up and hone ci write such a file when they end, with --output-snapshot-on-exit FILE.`,
		Example: "  hone snapshot create snapshot.json\n  hone snapshot create | jq .view.resources",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == stdinName {
				return copyDump(cmd.Context(), &f, client.DumpSnapshot, g.Stdout)
			}
			file, err := snapshot.Open(args[0])
			if err != nil {
				return err
			}
			return file.Write(func(w io.Writer) error { return copyDump(cmd.Context(), &f, client.DumpSnapshot, w) })
		},
	}
	f.Add(c)
	return c
}

// stdinName stands for standard input or output, instead of a file.
const stdinName = "-"

func newSnapshotView(g *command.Global) *cobra.Command {
	var lines bool
	c := &cobra.Command{
		Use:   "view FILE",
		Short: "Show a saved session",
		Long: `Shows a file that hone snapshot create or --output-snapshot-on-exit has written. In a terminal it uses the full screen, which
works as in a running session, except for updates; q leaves it. Otherwise, or with --stream, it prints the resources and
then the logs. With - the file is read from standard input.

There is no web page, so Tilt's --port has no meaning here.`,
		Example: "  hone ci --output-snapshot-on-exit snapshot.json\n  hone snapshot view snapshot.json\n  curl https://ci.example/snapshot.json | hone snapshot view -",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return viewSnapshot(cmd.Context(), g, cmd.InOrStdin(), args[0], lines)
		},
	}
	c.Flags().BoolVar(&lines, "stream", false, "print resources and logs instead of showing the screen")
	command.IgnoredFlags(c, []string{"no-open"}, nil)
	return c
}

func viewSnapshot(ctx context.Context, g *command.Global, in io.Reader, path string, lines bool) error {
	name := path
	if path == stdinName {
		name = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return problem.Wrap(err, "cannot read the snapshot", "name a file that hone snapshot create has written")
		}
		defer f.Close()
		in = f
	}
	kept, err := snapshot.Read(in, name)
	if err != nil {
		return err
	}
	v, err := snapshot.Restore(kept)
	if err != nil {
		return err
	}
	logs, err := logstore.New(logstore.Options{MemoryPerResource: keptLogs})
	if err != nil {
		return err
	}
	defer logs.Close()
	snapshot.Replay(kept, logs)
	past := hud.Past{View: v, At: kept.CreatedAt, Logs: logs, By: kept.Version, Version: command.Version, Suspend: g.Suspender("")}
	if !lines && path != stdinName && command.Interactive() {
		if past.Settings, err = hud.LoadSettings(); err != nil {
			return err
		}
		g.Terminal.Begin()
		return past.Show(ctx)
	}
	if _, err := fmt.Fprintln(g.Stdout, past.Shown().Text()); err != nil {
		return err
	}
	return stream.New(stream.Options{Logs: logs, Out: g.Stdout}).Drain()
}

// keptLogs bounds the log of a resource of a snapshot; snapshots hold less.
const keptLogs = 64 << 20
