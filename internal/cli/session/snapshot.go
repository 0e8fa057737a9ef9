package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/web"
	"github.com/hone-dev/hone/web/docs"
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
	var o viewOptions
	c := &cobra.Command{
		Use:   "view FILE",
		Short: "Show a saved session",
		Long: `Shows a file that hone snapshot create or --output-snapshot-on-exit has written. In a terminal it uses the full screen, which
works as in a running session, except for updates; q leaves it. Otherwise, or with --stream, it prints the resources and
then the logs. With - the file is read from standard input.

With --web it opens the web page with the snapshot in a browser, and serves that page until Ctrl-C. Nothing can be changed there,
and no cluster is asked. --port and --no-open mean the web page, too.`,
		Example: "  hone ci --output-snapshot-on-exit snapshot.json\n  hone snapshot view snapshot.json\n  hone snapshot view --web snapshot.json\n  curl https://ci.example/snapshot.json | hone snapshot view -",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !o.lines && (o.noOpen || cmd.Flags().Changed("port")) { // Tilt shows nothing but the web page
				o.web = true
			}
			return viewSnapshot(cmd.Context(), g, cmd.InOrStdin(), args[0], o)
		},
	}
	c.Flags().BoolVar(&o.lines, "stream", false, "print resources and logs instead of showing the screen")
	c.Flags().BoolVar(&o.web, "web", false, "show it in the web page instead")
	c.Flags().IntVar(&o.port, "port", 0, "port of the web page; 0 takes a free one")
	c.Flags().BoolVar(&o.noOpen, "no-open", false, "print the address of the web page instead of opening it; it is valid once, for a minute")
	c.MarkFlagsMutuallyExclusive("stream", "web")
	return c
}

// viewOptions are the options for showing a snapshot.
type viewOptions struct {
	// lines prints it, and web serves the web page, on a port.
	lines, web bool
	port       int
	noOpen     bool
}

func viewSnapshot(ctx context.Context, g *command.Global, in io.Reader, path string, o viewOptions) error {
	name := path
	if path == stdinName {
		name = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return problem.Wrap(err, "cannot read the snapshot", "name a file that hone snapshot create has written").See("snapshots")
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
	snapshot.Replay(kept.Logs, logs)
	if o.web {
		return serveSnapshot(ctx, g, o, server.Past{View: v, At: kept.CreatedAt, By: kept.Version, Events: kept.Events}, logs)
	}
	past := hud.Past{View: v, At: kept.CreatedAt, Logs: logs, By: kept.Version, Version: command.Version, Suspend: g.Suspender("")}
	if !o.lines && path != stdinName && command.Interactive() {
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

// serveSnapshot shows a snapshot in the web page until ctx is done.
func serveSnapshot(ctx context.Context, g *command.Global, o viewOptions, past server.Past, logs *logstore.Store) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if err != nil {
		return problem.Wrap(err, "cannot open the port of the web page", "choose another one: --port, or 0 for a free one")
	}
	defer l.Close()
	login := server.NewPageLogin(l)
	address, err := login.Ticket("")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		served <- server.ServePast(ctx, server.Options{Version: command.Version, TCP: l, Token: rand.Text(), PageLogin: login, Page: web.Files(), Docs: docs.HTML, Logs: logs, Answers: answers.Here{Logs: logs}}, past)
	}()
	if o.noOpen {
		fmt.Fprintln(g.Stdout, address)
	} else if err := hud.OpenBrowser(ctx, address); err != nil {
		cancel()
		if err := <-served; err != nil {
			return err
		}
		return problem.Wrap(err, "cannot open a browser", "print the address instead, with --no-open")
	} else {
		fmt.Fprintln(g.Stdout, "The page shows the snapshot until Ctrl-C.")
	}
	return <-served
}

// keptLogs bounds the log of a resource of a snapshot; snapshots hold less.
const keptLogs = 64 << 20
