package session

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/checkout"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/shell"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/tunnel"
	"github.com/hone-dev/hone/internal/hud"
)

// slowAfter is the time that another machine may take before the user learns that it is awaited.
const slowAfter = flags.AskLimit

func newRelay() *cobra.Command {
	return &cobra.Command{
		Use:   "relay",
		Short: "Lead hone attach of another machine to the sessions of this one",
		Long: `Leads hone attach ssh://BOX, which runs on another machine and starts this command here by ssh, to the sessions of this user and to
their port forwards. Standard input and output carry the connections. It ends with its input.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tunnel.Relay(cmd.Context(), os.Stdin, os.Stdout, flags.Registry(), command.Version)
		},
	}
}

// far is a session on another machine.
type far struct {
	*client.Client
	tunnel *tunnel.Tunnel
	ports  *nearPorts
	maps   folders
	// foreign is the source tree there if none here is known to be the same; empty with --map.
	foreign string
}

// reach connects to a session on another machine. The result must be closed.
func reach(ctx context.Context, g *command.Global, address string, maps folders) (*far, error) {
	to, err := tunnel.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	t := tunnel.New(to, command.Version)
	slow := time.AfterFunc(slowAfter, func() { fmt.Fprintf(g.Stderr, "Waiting for %s to answer…\n", to.Box()) })
	all, err := t.Sessions(ctx)
	slow.Stop()
	if err != nil {
		t.Close()
		return nil, err
	}
	s, err := to.Choose(all)
	if err != nil {
		t.Close()
		return nil, err
	}
	c := client.Through(s, os.Getenv(flags.TokenVariable), func(ctx context.Context) (net.Conn, error) { return t.Session(ctx, s) })
	f := &far{Client: c, tunnel: t, ports: newNearPorts(ctx, t, s), maps: maps}
	if len(maps) == 0 {
		f.choose(ctx)
	}
	return f, nil
}

// choose maps the source tree of the session to a folder here that has the same project.
func (f *far) choose(ctx context.Context) {
	there, err := f.tunnel.Checkout(ctx, f.Session)
	if err != nil {
		return // an older hone: files are looked for at the same path
	}
	work, err := os.Getwd()
	if err != nil {
		work = "."
	}
	if here := checkout.Near(ctx, there, work); here != "" {
		f.maps = folders{{path.Clean(filepath.ToSlash(there.Root)), here}}
		return
	}
	f.foreign = there.Root
}

// greeting says where files open here.
func (f *far) greeting() string {
	var said []string
	for _, d := range f.maps {
		said = append(said, d.there+" opens in "+d.here)
	}
	return strings.Join(said, ", ")
}

func (f *far) close() {
	f.ports.close()
	f.tunnel.Close()
}

// fit makes a screen one of a session on another machine.
func (f *far) fit(a *hud.Attached) {
	a.Box = f.tunnel.To.Box()
	a.Shell = f.shell
	a.Notices = f.ports.notices
	if len(f.maps) > 0 {
		a.Local = f.maps.local
	}
	a.Readable, a.Greeting = f.readable, f.greeting()
	if f.Session.URL == "" {
		return
	}
	a.Page, _ = f.ports.pageHere(f.Session.URL)
	there := a.Web
	a.Web = func(resource string) (string, error) {
		address, err := there(resource)
		if err != nil {
			return "", err
		}
		return f.ports.pageHere(address)
	}
}

// shell opens a shell of a resource by ssh, in this terminal. The session first says why it cannot, which could not be read later.
func (f *far) shell(ctx context.Context, resource, pod, container string) error {
	if _, err := f.Shell(ctx, url.Values{"resource": {resource}, "pod": {pod}, "container": {container}}); err != nil {
		return err
	}
	return shell.Far(ctx, f.tunnel.To, f.Session, resource, pod, container)
}

// readable is readable with the mend for a file that is in another folder here.
func (f *far) readable(path string) error {
	err := readable(path)
	const mend = "if this machine has the folder, too: hone attach --map REMOTE=LOCAL"
	if p, ok := problem.Of(err); ok && p.Cause == nil {
		p.Mend = mend
	}
	if err == nil && f.isForeign(path) {
		return problem.New(path+" here may be of another project than on "+f.tunnel.To.Box(), mend)
	}
	return err
}

// isForeign reports whether a path is one of the session's source tree, which no folder here is known to be.
func (f *far) isForeign(path string) bool {
	return f.foreign != "" && folders{{f.foreign, f.foreign}}.local(path) != ""
}
