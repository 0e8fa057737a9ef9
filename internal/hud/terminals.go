package hud

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
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
	// Ignores are the watcher's rules, for answers about files.
	Ignores view.Ignores
	// LayoutFile is where the arrangement of a screen is remembered; empty forgets it.
	LayoutFile string
	Version    string
}

// Terminals shows the session in any number of attached terminals, which come and go.
type Terminals struct {
	options  TerminalsOptions
	arrivals chan arrival
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
	ctx  context.Context // of the connection
	far  *terminal.Far
	left chan struct{} // closed when the screen is gone
}

// Attach shows the session on a connection until its user leaves, the connection breaks, or ctx or the session ends. The
// connection stays open.
func (t *Terminals) Attach(ctx context.Context, c net.Conn) error {
	far, err := terminal.Accept(c)
	if err != nil {
		if far != nil {
			_ = far.Send(terminal.End, []byte(err.Error()))
		}
		return err
	}
	a := arrival{ctx, far, make(chan struct{})}
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
	open := map[*terminal.Far]chan struct{}{}
	gone := make(chan *terminal.Far)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
			for _, changed := range open {
				poke(changed)
			}
		case far := <-gone:
			delete(open, far)
		case a := <-t.arrivals:
			changed := make(chan struct{}, 1)
			open[a.far] = changed
			screens.Go(func() {
				defer close(a.left)
				t.show(ctx, rt, a, changed)
				select {
				case gone <- a.far:
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
	defer context.AfterFunc(ctx, a.far.Finish)()
	left := false // set on the screen's goroutine, which has ended when run returns
	err := t.run(ctx, rt, a.far, changed, func() { left = true })
	a.far.Finish()
	_ = a.far.Send(terminal.End, []byte(t.goodbye(left, err)))
}

func (t *Terminals) run(ctx context.Context, rt *store.Runtime, far *terminal.Far, changed <-chan struct{}, left func()) error {
	term, err := screen.Far(far)
	if err != nil {
		return err
	}
	layout := openLayout(t.options.LayoutFile)
	defer layout.close()
	return screen.Run(ctx, screen.Options{
		Terminal:   term,
		Layout:     layout.first,
		KeepLayout: layout.keep,
		Logs:       t.options.Logs,
		Changed:    changed,
		Frame: func(now time.Time) screen.Frame {
			return screen.FrameOf(rt.Aside(), now, loop(t.options.Stats), t.options.Ignores)
		},
		Trigger: func(name model.ManifestName) error { return trigger(rt, rt.Aside(), name) },
		Object:  t.options.Object.reader(rt.Aside),
		Quit:    left,
		Leave:   t.options.Session,
		// The browser must open on the user's machine.
		Open:    func(_ context.Context, url string) error { return far.Send(terminal.Open, []byte(url)) },
		Version: t.options.Version,
		NoColor: far.Description.NoColor,
	})
}

// goodbye returns the message that the user sees after the screen has closed.
func (t *Terminals) goodbye(left bool, err error) string {
	switch {
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
