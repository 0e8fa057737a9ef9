package screen

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Frame is the content of the screen at one moment.
type Frame struct {
	View view.View
	// Details returns what is known about one resource at the time of the frame; ok is false if it does not exist.
	Details func(model.ManifestName) (d view.Details, ok bool)
	// Why answers why a resource is in its state, and WhyFile what a change of a file does to it; a relative name is one below
	// the Tiltfile.
	Why     func(name model.ManifestName) []view.Line
	WhyFile func(name model.ManifestName, file string) []view.Line
	// Locate returns where a file that the output of a resource names may be, the most likely place first.
	Locate func(name model.ManifestName, file string) []string
}

// FrameOf returns the frame of a snapshot. Loop is how long the store's last batch took, and ignored are the watcher's rules.
func FrameOf(v store.View, now time.Time, loop time.Duration, ignored view.Ignores) Frame {
	return Frame{
		View:    view.Build(v, now, loop),
		Details: func(name model.ManifestName) (view.Details, bool) { return view.DetailsOf(v, name, now) },
		Why:     func(name model.ManifestName) []view.Line { return view.Why(v, name, now) },
		WhyFile: func(name model.ManifestName, file string) []view.Line {
			return view.WhyFile(v, name, file, now, ignored)
		},
		Locate: func(name model.ManifestName, file string) []string { return view.Locate(v, name, file) },
	}
}

// Options configure a screen. All except Terminal, Programs, Copy, Now, Version and NoColor must be set.
type Options struct {
	// Terminal is where to draw; nil means the terminal that the process runs in.
	Terminal Terminal
	Logs     Logs
	// Changed delivers a value when Frame would return something new. Frame is called on one goroutine at a time.
	Changed <-chan struct{}
	Frame   func(now time.Time) Frame
	// Trigger requests an update, or returns why the resource cannot be updated. Quit requests the end of the session, which
	// must end the context of Run. Both must return at once.
	Trigger func(model.ManifestName) error
	Quit    func()
	// Object reads an object of the cluster as YAML for people. It is called away from the drawing.
	Object func(ctx context.Context, o model.AppliedObject) (string, error)
	// Open shows an address in a browser.
	Open func(ctx context.Context, url string) error
	// Programs are the user's programs for text.
	Programs Programs
	// Copy puts a text into the clipboard of the user's desktop, if there is one; nil leaves that to the terminal, which always
	// gets the text too. It is called away from the drawing.
	Copy func(ctx context.Context, text string) error
	// Layout is how the screen is arranged at first. KeepLayout, if not nil, is called when the user has changed the layout,
	// on the goroutine that draws: it must return at once.
	Layout     Layout
	KeepLayout func(Layout)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Leave is the name of the session for an attached screen. Leaving such a screen ends only the screen, and Quit only
	// reports that the user left.
	Leave string
	// Past is set for a screen that shows a past session: Trigger is not called, and leaving it works as with Leave.
	Past bool
	// Version is shown in the help.
	Version string
	// NoColor shows everything in the terminal's two colours.
	NoColor bool
}

// leaves reports whether leaving the screen ends only the screen, not the session.
func (o Options) leaves() bool { return o.Leave != "" || o.Past }

// errLeft is the cause of the end if the user leaves the screen before the session has ended.
var errLeft = errors.New("left by the user")

// Run shows the screen until ctx is done, which is not an error, or until the user leaves it. The user can leave only after
// quitting, or if Leave or Past is set; Run then does not wait for the end of the session. When Run returns, the terminal is
// always restored. An error is the reason why the screen cannot be shown, ErrGone, or a *bug.Report, which is a bug in hone.
func Run(ctx context.Context, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	term, err := open(o.Terminal)
	if err != nil {
		return err
	}
	defer term.Fini()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)

	lists := loglist.NewLister(ctx, o.Logs, o.Now)
	defer lists.Close()
	ui := newUI(o, theme{ascii: term.CharacterSet() != "UTF-8", noColor: o.NoColor}, lists)
	ui.leave, ui.done = leave, ctx.Done()
	app := tview.NewApplication().SetScreen(&guarded{term, func(err error) { leave(err) }})
	app.SetRoot(newRoot(ui), true).EnablePaste(true).SetInputCapture(ui.key).SetMouseCapture(ui.mouse)
	term.EnableMouse(tcell.MouseButtonEvents | tcell.MouseDragEvents) // no events while the mouse only moves
	p := &pump{ui: ui, app: app, options: o, lists: lists}
	ui.jobs, ui.sync, ui.clipboard, ui.suspend = newJobs(ctx), term.Sync, term.SetClipboard, app.Suspend

	var closer sync.WaitGroup
	closer.Go(func() {
		func() { defer ui.guard(); p.run(ctx) }()
		ui.jobs.work.Wait()
		app.QueueUpdate(func() {}) // stopping tview before it runs would make it open its own terminal
		app.Stop()
	})
	if returned, err := show(ui, app); returned {
		leave(err)
		closer.Wait()
	} // else tview itself panicked and accepts nothing, not even the pump's last update
	return outcome(context.Cause(ctx))
}

// show runs tview. returned is false if tview panicked.
func show(ui *ui, app *tview.Application) (returned bool, err error) {
	defer ui.guard()
	err = app.Run()
	return true, err
}

// outcome returns the error for the end of a screen; nil for an ordinary end.
func outcome(cause error) error {
	var p *bug.Report
	switch {
	case errors.As(cause, &p):
		return p
	case errors.Is(cause, ErrGone):
		return cause
	}
	return nil
}

// guard ends the screen if the function that defers it panics.
func (u *ui) guard() {
	if p := recover(); p != nil {
		u.leave(bug.Caught("show the screen", p))
	}
}

// Logs is the part of the log store that the screen reads.
type Logs interface {
	loglist.Logs
	Spans(resource model.ManifestName) []logstore.SpanInfo
}

var _ Logs = (*logstore.Store)(nil)
