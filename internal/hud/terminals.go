package hud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/store"
)

// TerminalsOptions configure attached screens.
type TerminalsOptions struct {
	Logs *logstore.Store
	// Session is the session's name.
	Session string
	// Stats are the counters of the store's loop. If nil, the header does not show the loop's time.
	Stats *store.Stats
	// Object reads an object of the cluster; nil for a session without one.
	Object ReadObject
	// Plan makes plans; nil for a session that makes none.
	Plan MakePlan
	// Previous reads the previous run of a container; nil for a session without a cluster.
	Previous ReadPrevious
	// Ignores are the watcher's rules, for answers about files.
	Ignores view.Ignores
	// LayoutFile remembers the arrangement of a screen; empty forgets it.
	LayoutFile string
	// Snapshot writes a snapshot of the session to a file and returns its path; nil if it cannot.
	Snapshot func(ctx context.Context) (path string, err error)
	// Web returns an address of the session's web page, with a resource unless that is empty; nil if there is no page.
	Web func(resource string) (address string, err error)
	// Page is the address of that page, without the ticket that lets a browser in; empty if there is none.
	Page string
	// BugReports is the file that bugs in hone are reported to; it may be empty.
	BugReports string
	Version    string
}

// Terminals shows the session in any number of attached terminals, which come and go.
type Terminals struct {
	options  TerminalsOptions
	arrivals chan arrival
	screens  audience
}

// NewTerminals returns the subscriber.
func NewTerminals(o TerminalsOptions) *Terminals {
	return &Terminals{options: o, arrivals: make(chan arrival)}
}

var _ store.Subscriber = (*Terminals)(nil)

// Contract implements store.Subscriber.
func (t *Terminals) Contract() store.Contract {
	c := New(Options{}).Contract()
	c.Name = "Terminals"
	c.Doc = "Shows the session in the terminals that attach to it, each with a screen of its own."
	c.Externals = []string{"sockets"}
	return c
}

// arrival is a terminal that attaches.
type arrival struct {
	ctx    context.Context // of the connection
	remote *terminal.Remote
	left   chan struct{} // closed when the screen is gone
	// readOnly is set for a screen that cannot change the session.
	readOnly bool
}

// Attach shows the session on a connection until its user leaves, the connection breaks, or ctx or the session ends. The
// connection stays open. A screen that is read-only has no way to change the session.
func (t *Terminals) Attach(ctx context.Context, c net.Conn, readOnly bool) error {
	remote, err := terminal.Accept(c)
	if err != nil {
		if remote != nil {
			_ = remote.Send(terminal.End, []byte(err.Error()))
		}
		return err
	}
	a := arrival{ctx, remote, make(chan struct{}), readOnly}
	select {
	case t.arrivals <- a:
		<-a.left
	case <-ctx.Done():
	}
	return nil
}

// Run implements store.Subscriber. Each terminal has its own goroutine, so that a slow terminal does not delay the others.
func (t *Terminals) Run(ctx context.Context, rt *store.Runtime) error {
	var screens sync.WaitGroup
	defer screens.Wait()
	open := map[*terminal.Remote]chan struct{}{}
	gone := make(chan *terminal.Remote)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
			for _, changed := range open {
				poke(changed)
			}
		case remote := <-gone:
			delete(open, remote)
		case a := <-t.arrivals:
			changed := make(chan struct{}, 1)
			open[a.remote] = changed
			screens.Go(func() {
				defer close(a.left)
				t.show(ctx, rt, a, changed)
				select {
				case gone <- a.remote:
				case <-ctx.Done():
				}
			})
		}
	}
}

// poke puts a value into a slot, unless the slot is full.
func poke(slot chan struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}

// show runs a screen until its user leaves it or the session ends, and then prints the closing message.
func (t *Terminals) show(ctx context.Context, rt *store.Runtime, a arrival, changed <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	// At the end of the session, do not wait for a client that does not read.
	defer context.AfterFunc(ctx, a.remote.Finish)()
	left := false // set on the screen's goroutine, which has ended when run returns
	err := t.run(ctx, rt, a, changed, func() { left = true })
	a.remote.Finish()
	_ = a.remote.Send(terminal.End, []byte(t.goodbye(left, err)))
}

func (t *Terminals) run(ctx context.Context, rt *store.Runtime, a arrival, changed <-chan struct{}, left func()) error {
	remote := a.remote
	term, err := screen.Remote(remote)
	if err != nil {
		return err
	}
	about := remote.Description
	if host, err := os.Hostname(); err != nil || host != about.Host {
		about.Host = "" // links to files would lead nowhere
	}
	layout := openLayout(t.options.LayoutFile)
	defer layout.close()
	beside, leave := t.screens.enter()
	defer leave()
	o := screen.Options{
		Terminal:   term,
		Beside:     beside,
		Suspend:    remoteSuspend(remote),
		Job:        remoteJob(remote),
		Programs:   remotePrograms(remote), // no Copy: the clipboard of this machine is not the user's
		About:      about,
		Settings:   settings.Decode(remote.Description.Settings),
		Layout:     layout.first,
		KeepLayout: layout.keep,
		Snapshot:   t.options.Snapshot,
		Logs:       t.options.Logs,
		Changed:    changed,
		Frame: func(now time.Time) screen.Frame {
			return screen.FrameOf(rt.Aside(), now, loop(t.options.Stats), t.options.Ignores)
		},
		Ask:    func(w screen.Request) error { return ask(rt, rt.Aside(), w) },
		Plan:   t.options.Plan.reader(rt.Aside),
		Object: t.options.Object.reader(rt.Aside), Previous: t.options.Previous.reader(rt.Aside),
		Quit:  left,
		Leave: t.options.Session,
		// The browser must open on the user's machine.
		Open:    func(_ context.Context, url string) error { return remote.Send(terminal.Open, []byte(url)) },
		Web:     t.options.Web,
		Page:    t.options.Page,
		Version: t.options.Version,
		NoColor: remote.Description.NoColor,
	}
	if a.readOnly {
		o.ReadOnly, o.Ask, o.KeepLayout, o.Snapshot = true, nil, nil, nil
		o.Web = nil // the page can change the session
	}
	return screen.Run(ctx, o)
}

// remotePrograms runs the programs of the user at the other end, in that terminal; none if the client cannot.
func remotePrograms(remote *terminal.Remote) screen.Programs {
	var p screen.Programs
	d := remote.Description
	if d.Programs {
		p = screen.Programs{Edit: remote.Edit, Page: remote.Page, Shell: remote.Shell}
	}
	if d.Commands {
		p.Run = func(ctx context.Context, c settings.Command, env []string) (string, error) {
			switch {
			case !c.Terminal:
				return remote.Background(ctx, c.Name, env)
			case !d.Programs:
				return "", problem.New("on this system, an attached terminal cannot be given to a command", "run it in another terminal")
			}
			return "", remote.Command(ctx, c.Name, env)
		}
	}
	return p
}

// remoteSuspend suspends the client; nil if it cannot.
func remoteSuspend(remote *terminal.Remote) func(context.Context) error {
	if !remote.Description.Suspends {
		return nil
	}
	return remote.Suspend
}

// goodbye returns the message that the user sees after the screen has closed.
func (t *Terminals) goodbye(left bool, err error) string {
	var mistake *bug.Report
	switch {
	case errors.As(err, &mistake):
		said := fmt.Sprintf("This screen has ended because of a bug in hone: %s (at %s). Session %s keeps running: hone attach shows it again.", mistake.What, mistake.Where, t.options.Session)
		if t.options.BugReports != "" {
			said += "\nPlease report it with " + t.options.BugReports
		}
		return said
	case err != nil && !errors.Is(err, screen.ErrGone): // the end of the session also appears as ErrGone
		return problem.Text(err)
	case left:
		return "Detached from session " + t.options.Session + ", which keeps running."
	}
	return "Session " + t.options.Session + " is over."
}

// loop returns the duration of the newest batch of the store; zero without statistics.
func loop(s *store.Stats) time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.Last.Load())
}
