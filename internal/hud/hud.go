package hud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/clipboard"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Options configure the HUD. Only Logs must be set.
type Options struct {
	Logs *logstore.Store
	// Quit is called when the user requests the end of the session, possibly more than once. It must return at once; Run
	// continues until its context is done.
	Quit func()
	// Stats are the counters of the store's loop. If nil, the header does not show the loop's time.
	Stats *store.Stats
	// Object reads an object of the cluster; nil for a session without one.
	Object ReadObject
	// Plan makes plans; nil for a session that makes none.
	Plan MakePlan
	// Revision compares a revision with the one before; nil for a session without a cluster.
	Revision ReadRevision
	// Previous reads the previous run of a container; nil for a session without a cluster.
	Previous ReadPrevious
	// Ignores are the watcher's rules, for answers about files.
	Ignores view.Ignores
	// Hangup delivers a value when the terminal is lost, even if it still can be read; with nil, only a failed read shows the loss.
	Hangup <-chan struct{}
	// Lost returns the output that shows the session after the terminal was lost; nil ends the session then.
	Lost func() store.Subscriber
	// Screen is the terminal to draw on; nil means the terminal of the process.
	Screen screen.Terminal
	// Settings are the user's choices for the screen.
	Settings settings.Settings
	// End returns the state at the end of the session, before anything was stopped. It is called after the end; nil means the
	// newest state.
	End func() store.View
	// KeepLog keeps the log of the session, and returns the file, which the summary names; nil keeps nothing.
	KeepLog func() (path string, err error)
	// Out takes the summary after the screen is gone; nil means standard output.
	Out io.Writer
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Open shows an address in a browser; nil means OpenBrowser.
	Open func(ctx context.Context, url string) error
	// Web returns an address of the session's web page, with a resource unless that is empty; nil if there is no page.
	Web func(resource string) (address string, err error)
	// Page is the address of that page, without the ticket that lets a browser in; empty if there is none.
	Page string
	// Suspend gives the terminal back to the user's shell; see screen.Options.
	Suspend func(ctx context.Context) error
	// Copy puts a text into the clipboard of the user's desktop; nil means this machine's, if there is one.
	Copy func(ctx context.Context, text string) error
	// Shell runs a shell where a resource runs, in the terminal of the process; nil means that it cannot be done.
	Shell func(ctx context.Context, resource, pod, container string) error
	// LayoutFile remembers the arrangement of the screen; empty forgets it.
	LayoutFile string
	// Snapshot writes a snapshot of the session to a file and returns its path; nil if it cannot.
	Snapshot func(ctx context.Context) (path string, err error)
	Version  string
	// NoColor disables colours. New sets it if the environment has NO_COLOR.
	NoColor bool
}

// name is the name of the HUD, also as one of the session's screens.
const name = "HUD"

// loop returns the duration of the newest batch of the store; zero without statistics.
func loop(s *store.Stats) time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.Last.Load())
}

// Subscriber is the HUD.
type Subscriber struct {
	options Options
}

// New returns the subscriber.
func New(o Options) *Subscriber {
	if o.Quit == nil {
		o.Quit = func() {}
	}
	if o.Out == nil {
		o.Out = text.NewWriter(os.Stdout, stream.Colored(os.Stdout))
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Open == nil {
		o.Open = OpenBrowser
	}
	if o.Copy == nil {
		o.Copy = clipboard.Copy
	}
	o.NoColor = o.NoColor || os.Getenv("NO_COLOR") != ""
	return &Subscriber{options: o}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:   name,
		Doc:    "Shows resources and logs in the terminal and takes the user's keys.",
		Inputs: view.Tables(),
		Outputs: store.Shares(state.ResourcesTriggered{}, state.ResourcesSwitched{}, state.TriggerModeChosen{}, state.ButtonClicked{},
			state.TiltfileArgsSet{}, state.ResourcesRestarted{}, state.SessionPaused{}, state.SessionResumed{}, state.ForwardsChosen{}, state.PruneAllowed{},
			state.ResourcesRestored{}, state.DriftAccepted{}, state.ChangesConfirmed{}, state.ScreenOpened{}, state.ScreenMoved{}, state.ScreenClosed{}),
		Externals: []string{"terminal"},
		Stage:     store.StageView,
		Feedback:  "it dispatches in response to keys only: another screen that moves changes nothing of this one's selection",
	}
}

// errHungUp is the reason for the end of a screen whose terminal is lost.
var errHungUp = fmt.Errorf("%w: it has hung up", screen.ErrGone)

// Run implements store.Subscriber. It shows the screen until ctx is done. If the terminal is lost earlier, the output of
// Options.Lost shows the session from then on, if there is one. If the user leaves the screen, it requests the end of the session
// and waits for it. Then it prints a summary.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	// The summary shows the last view before the end of the session, not the state of the resources while they stop.
	var atQuit atomic.Pointer[view.View]
	layout := openLayout(s.options.LayoutFile)
	defer layout.close()
	current := func() view.View { return view.Build(rt.View(), s.options.Now(), loop(s.options.Stats)) }
	rt.Dispatch(state.ScreenOpened{ID: name})
	shown, hangUp := context.WithCancelCause(ctx)
	var listener sync.WaitGroup
	listener.Go(func() {
		select {
		case <-s.options.Hangup:
			hangUp(errHungUp)
		case <-shown.Done():
		}
	})
	job := newJobControl(s.options.Screen, s.options.Suspend)
	job.hold()
	err := screen.Run(shown, screen.Options{
		Terminal: s.options.Screen,
		About:    terminal.FromEnvironment(os.Getenv),
		Settings: s.options.Settings,
		Logs:     s.options.Logs,
		Changed:  rt.Wake(),
		Frame: func(now time.Time) screen.Frame {
			defer rt.Idle()
			return screen.FrameOf(rt.View(), now, loop(s.options.Stats), s.options.Ignores)
		},
		Ask: func(w screen.Request) (func(context.Context) error, error) { return nil, ask(rt, w) },
		Quit: func() {
			v := current()
			atQuit.CompareAndSwap(nil, &v)
			s.options.Quit()
		},
		Plan: s.options.Plan.reader(rt.Aside), Revision: s.options.Revision.reader(rt.Aside),
		Object: s.options.Object.reader(rt.Aside), Previous: s.options.Previous.reader(rt.Aside),
		// The screen gives its terminal away while a program of the user has it.
		Programs:   job.programs(ownPrograms(s.options.Shell)),
		Beside:     beside(name, rt.Aside, func(to model.ManifestName) { rt.Dispatch(state.ScreenMoved{ID: name, At: to}) }),
		Suspend:    job.suspend(s.options.Suspend),
		Job:        job.asks(),
		Copy:       s.options.Copy,
		Layout:     layout.first,
		KeepLayout: layout.keep,
		Snapshot:   s.options.Snapshot,
		Open:       s.options.Open,
		Web:        s.options.Web,
		Page:       s.options.Page,
		Now:        s.options.Now,
		Version:    s.options.Version,
		NoColor:    s.options.NoColor,
	})
	job.free()
	hangUp(nil)
	listener.Wait()
	rt.Dispatch(state.ScreenClosed{ID: name})
	if err != nil && !errors.Is(err, screen.ErrGone) {
		return err
	}
	keepLog := s.options.KeepLog
	if err != nil && ctx.Err() == nil && s.options.Lost != nil {
		keepLog = nil // the output that takes over writes the log
		if err := s.options.Lost().Run(ctx, rt); err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		s.options.Quit()
		<-ctx.Done()
	}
	last := atQuit.Load()
	if last == nil {
		v := current()
		if s.options.End != nil {
			v = view.Build(s.options.End(), s.options.Now(), loop(s.options.Stats))
		}
		last = &v
	}
	summary := last.Summary()
	if keepLog != nil && summary != "" {
		path, err := keepLog()
		if err != nil {
			summary += "The log could not be kept: " + err.Error() + "\n"
		} else {
			summary += "Log in " + path + "\n"
		}
	}
	if _, err := io.WriteString(s.options.Out, summary); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	return nil
}

// ask dispatches the action of a request of the user, or returns why it is impossible.
func ask(rt *store.Runtime, w screen.Request) error {
	a, err := w(rt.View())
	if err == nil && a != nil {
		rt.Dispatch(a)
	}
	return err
}
