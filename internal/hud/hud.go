package hud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/clipboard"
	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/intent"
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
	// Ignores are the watcher's rules, for answers about files.
	Ignores view.Ignores
	// Screen is the terminal to draw on; nil means the terminal of the process.
	Screen screen.Terminal
	// Out takes the summary after the screen is gone; nil means standard output.
	Out io.Writer
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Open shows an address in a browser; nil means OpenBrowser.
	Open func(ctx context.Context, url string) error
	// Copy puts a text into the clipboard of the user's desktop; nil means that of this machine, if there is one.
	Copy func(ctx context.Context, text string) error
	// LayoutFile is where the arrangement of the screen is remembered; empty forgets it.
	LayoutFile string
	Version    string
	// NoColor disables colours. New sets it if the environment has NO_COLOR.
	NoColor bool
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
		o.Out = os.Stdout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Open == nil {
		o.Open = OpenBrowser
	}
	if o.Copy == nil {
		o.Copy = ownClipboard
	}
	o.NoColor = o.NoColor || os.Getenv("NO_COLOR") != ""
	return &Subscriber{options: o}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "HUD",
		Doc:       "Shows resources and logs in the terminal and takes the user's keys.",
		Inputs:    view.Tables(),
		Outputs:   store.Shares(state.ResourcesTriggered{}),
		Externals: []string{"terminal"},
		Stage:     store.StageView,
		Feedback:  "it dispatches in response to keys only, never in response to what it shows",
	}
}

// Run implements store.Subscriber. It shows the screen until ctx is done. If the user leaves the screen earlier, or the
// terminal is lost, it requests the end of the session and waits for it. Then it prints a summary.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	// When the user quits, the summary shows the last view before that, not the state of the resources while they stop.
	var atQuit atomic.Pointer[view.View]
	layout := openLayout(s.options.LayoutFile)
	defer layout.close()
	current := func() view.View { return view.Build(rt.View(), s.options.Now(), loop(s.options.Stats)) }
	err := screen.Run(ctx, screen.Options{
		Terminal: s.options.Screen,
		Logs:     s.options.Logs,
		Changed:  rt.Wake(),
		Frame: func(now time.Time) screen.Frame {
			defer rt.Idle()
			return screen.FrameOf(rt.View(), now, loop(s.options.Stats), s.options.Ignores)
		},
		Trigger: func(name model.ManifestName) error { return trigger(rt, rt.View(), name) },
		Quit: func() {
			v := current()
			atQuit.CompareAndSwap(nil, &v)
			s.options.Quit()
		},
		Object: s.options.Object.reader(rt.Aside),
		// The screen gives its terminal away while a program of the user has it.
		Programs:   ownPrograms(),
		Copy:       s.options.Copy,
		Layout:     layout.first,
		KeepLayout: layout.keep,
		Open:       s.options.Open,
		Now:        s.options.Now,
		Version:    s.options.Version,
		NoColor:    s.options.NoColor,
	})
	if err != nil && !errors.Is(err, screen.ErrGone) {
		return err
	}
	if ctx.Err() == nil {
		s.options.Quit()
		<-ctx.Done()
	}
	last := atQuit.Load()
	if last == nil {
		v := current()
		last = &v
	}
	if _, err := io.WriteString(s.options.Out, last.Summary()); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	return nil
}

// trigger updates a resource of the view v, or returns why that is impossible.
func trigger(rt *store.Runtime, v store.View, name model.ManifestName) error {
	a, err := intent.Trigger(v, []string{string(name)})
	if err == nil {
		rt.Dispatch(a)
	}
	return err
}

// ownClipboard puts a text into the clipboard of this machine, if there is one.
func ownClipboard(ctx context.Context, text string) error {
	if err := clipboard.Copy(ctx, text); !errors.Is(err, clipboard.ErrNone) {
		return err
	}
	return nil
}

// ownPrograms runs the user's programs in the terminal of the process.
func ownPrograms() screen.Programs {
	return screen.Programs{
		Edit: func(ctx context.Context, path string, line int) error {
			return editor.FromEnvironment(os.Stdin, os.Stdout, os.Stderr).Open(ctx, path, line)
		},
		Page: func(ctx context.Context, path string) error {
			return editor.PagerFromEnvironment(os.Stdin, os.Stdout, os.Stderr).Show(ctx, path)
		},
	}
}
