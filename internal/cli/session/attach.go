package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/shell"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/tunnel"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func newAttach(g *command.Global) *cobra.Command {
	var f flags.Session
	var readOnly bool
	var maps []string
	c := &cobra.Command{
		Use:   "attach [ssh://[USER@]BOX[:PORT][/SESSION]]",
		Short: "Show a running session in this terminal",
		Long: `Shows the whole screen of a running session in this terminal, with its own selection, scroll position and size. q or
Ctrl-C leaves it; the session keeps running. Ctrl-Z goes back to the shell, and fg shows the screen again. Any number of
terminals may be attached. The log begins with the newest lines of each resource, up to 10,000 of them.

With an address, it shows a session of another machine, through ssh with your own configuration: the one with the name, or the only
one. hone must be in the PATH that ssh's commands have there. When the connection is lost, the screen says so and connects again.
The session's port forwards and its page are reached at ports of this machine, with the same numbers where those are free. o opens a
file of the session in the editor here, and names of files are links, if this machine has the folder, too: one with the same git remote,
around the current directory or at the same path. The screen first says which one. --map names others instead.

With --read-only the screen shows everything and has no key that changes anything, for a colleague's terminal or a monitor on
the wall.`,
		Example: "  hone attach\n  hone attach --session shop --read-only\n  hone attach ssh://box\n  hone attach ssh://dev@box:2222/shop",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return attachFar(cmd, g, args[0], maps, readOnly)
			}
			if len(maps) > 0 {
				return problem.New("--map is for a session of another machine", "give its address: hone attach --map REMOTE=LOCAL "+tunnel.Scheme+"BOX")
			}
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			return Attach(cmd.Context(), g, session, readOnly)
		},
	}
	f.Add(c)
	c.Flags().StringArrayVar(&maps, "map", nil, "folder of the other machine that this one has: REMOTE=LOCAL; may be given more than once")
	c.Flags().BoolVar(&readOnly, "read-only", false, "show the session without a way to change it")
	return c
}

// attachFar shows a session of another machine.
func attachFar(cmd *cobra.Command, g *command.Global, address string, maps []string, readOnly bool) error {
	for _, flag := range []string{"session", "host", "port"} {
		if cmd.Flags().Changed(flag) {
			return problem.New("--"+flag+" chooses a session, and so does "+address, "name the session in the address: "+tunnel.Scheme+"BOX/SESSION")
		}
	}
	known, err := parseFolders(maps)
	if err != nil {
		return err
	}
	if !command.Interactive() {
		return noScreen()
	}
	ctx := cmd.Context()
	there, err := reach(ctx, g, address, known)
	if err != nil {
		return err
	}
	defer there.close()
	return show(ctx, g, there.Client, readOnly, there.ports, there.fit)
}

func noScreen() error {
	return problem.New("the screen needs a terminal, and this is not one", "hone logs -f follows the session line by line")
}

// Attach shows a session until its user leaves, or the session ends. A screen that is read-only does not change the session.
func Attach(ctx context.Context, g *command.Global, session *client.Client, readOnly bool) error {
	if !command.Interactive() {
		return noScreen()
	}
	return show(ctx, g, session, readOnly, noPorts{}, func(*hud.Attached) {})
}

// show shows a session on a screen that fit makes fit it.
func show(ctx context.Context, g *command.Global, session *client.Client, readOnly bool, near nearSide, fit func(*hud.Attached)) error {
	chosen, err := hud.LoadSettings()
	if err != nil {
		return err
	}
	logs, err := logstore.New(logstore.Options{Dir: filepath.Join(command.StateDir(), "logs")})
	if err != nil {
		return err
	}
	defer logs.Close()
	id := rand.Text()
	f, err := follow(ctx, session, id, logs, near)
	if err != nil {
		return err
	}
	defer f.stop()
	a := hud.Attached{Session: cmp.Or(session.Session.Name, "at "+session.Session.Host), ID: id, View: f.of.View, Loop: f.of.Loop, Changed: f.changed, Logs: logs, Moved: f.moved,
		Send: func(ctx context.Context, v store.View, a store.Action) error {
			path, body := requestOf(v, a)
			return session.Send(ctx, path, body)
		},
		Object:   func(ctx context.Context, o model.AppliedObject) (string, error) { return session.Object(ctx, o.UID) },
		Previous: session.Previous,
		Plan:     func(ctx context.Context, _ store.View) (api.Plan, error) { return session.Plan(ctx) },
		Revision: func(ctx context.Context, _ store.View, on string, number int) (api.Plan, error) {
			return session.Revision(ctx, on, number)
		},
		Snapshot: func(ctx context.Context) (string, error) { return saveSnapshot(ctx, session) },
		Page:     session.Session.URL, Ignores: Ignores(), ReadOnly: readOnly, Elsewhere: session.Far() || session.Session.Socket == "",
		Lost:     f.lost.Load,
		Readable: readable,
		Shell: func(ctx context.Context, resource, pod, container string) error {
			return shell.Child(ctx, session.Session, resource, pod, container)
		},
		Settings: chosen, Suspend: g.Suspender(""), LayoutFile: LayoutFile(session.Session), Version: command.Version}
	if session.Session.URL != "" {
		a.Web = func(resource string) (string, error) {
			t, err := session.Ticket(ctx, resource)
			return t.URL, err
		}
	}
	fit(&a)
	g.Terminal.Begin()
	left, err := a.Show(f.ctx)
	g.Terminal.End()
	said, err := goodbye(session, left, f.outcome(), err)
	if said != "" {
		fmt.Fprintln(g.Stdout, said)
	}
	return err
}

// goodbye returns the message that the user sees after the screen has closed: outcome is the end of the stream that was followed, and
// err the end of the screen.
func goodbye(session *client.Client, left bool, outcome, err error) (string, error) {
	name := session.Where()
	var mistake *bug.Report
	switch {
	case errors.As(err, &mistake):
		return "", problem.Wrap(err, "this screen has ended because of a bug in hone", name+" keeps running: hone attach shows it again")
	case err != nil && !errors.Is(err, screen.ErrGone):
		return "", err
	case left || outcome == nil:
		return "Detached from " + name + ", which keeps running.", nil
	case errors.Is(outcome, errOver):
		return "Session " + session.Session.Name + " is over.", nil
	}
	return "", outcome
}
