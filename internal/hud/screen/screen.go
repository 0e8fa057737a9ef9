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
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/shell"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Frame is the content of the screen at one moment.
type Frame struct {
	View view.View
	// Details returns the details of one resource at the time of the frame; ok is false if it does not exist.
	Details func(model.ManifestName) (d view.Details, ok bool)
	// Why answers why a resource is in its state, and WhyFile how a change of a file affects it; a relative name is one below
	// the Tiltfile.
	Why     func(name model.ManifestName) []view.Line
	WhyFile func(name model.ManifestName, file string) []view.Line
	// Controls are the switches of a resource, and Session the switches of the session.
	Controls func(name model.ManifestName) (c view.Controls, ok bool)
	Session  func() view.SessionControls
	// Facts are the facts about a resource for the user's own commands.
	Facts func(name model.ManifestName) []view.Fact
	// Pending lists the changes that no update has taken in yet.
	Pending func() []view.Line
	// Revisions lists the revisions of the project.
	Revisions func() []view.Line
	// Locate returns where a file that the output of a resource names may be, the most likely place first.
	Locate func(name model.ManifestName, file string) []string
	// Shell returns where a shell of a resource can run, or why there can be none.
	Shell func(name model.ManifestName) (shell.Place, error)
}

// built reports whether FrameOf made the frame; the first one is empty.
func (f *Frame) built() bool { return f.Controls != nil }

// FrameOf returns the frame of a snapshot. Loop is the duration of the store's last batch, and ignored are the watcher's rules.
func FrameOf(v store.View, now time.Time, loop time.Duration, ignored view.Ignores) Frame {
	return Frame{
		View:    view.Build(v, now, loop),
		Details: func(name model.ManifestName) (view.Details, bool) { return view.DetailsOf(v, name, now) },
		Why:     func(name model.ManifestName) []view.Line { return view.Why(v, name, now) },
		WhyFile: func(name model.ManifestName, file string) []view.Line {
			return view.WhyFile(v, name, file, now, ignored)
		},
		Controls:  func(name model.ManifestName) (view.Controls, bool) { return view.ControlsOf(v, name) },
		Facts:     func(name model.ManifestName) []view.Fact { return view.Facts(v, name) },
		Pending:   func() []view.Line { return view.Pending(v, now) },
		Revisions: func() []view.Line { return view.Revisions(v) },
		Session:   func() view.SessionControls { return view.ControlsOfSession(v) },
		Locate:    func(name model.ManifestName, file string) []string { return status.Locate(v, name, file) },
		Shell:     func(name model.ManifestName) (shell.Place, error) { return shell.Of(v, string(name)) },
	}
}

// Options configure a screen. All except Terminal, About, Settings, Ask, Local, Plan, Revision, Web, Programs, Suspend, Job, Copy, Now, Version and NoColor must be set.
type Options struct {
	// Terminal is the terminal to draw on; nil means the terminal of the process.
	Terminal Terminal
	// About describes the terminal, without its host if that is another machine, and Settings are the user's choices for it.
	About    terminal.Description
	Settings settings.Settings
	// Greeting is a message at the beginning; empty for none.
	Greeting string
	Logs     Logs
	// Changed delivers a value when Frame would return something new. Frame is called on one goroutine at a time.
	Changed <-chan struct{}
	Frame   func(now time.Time) Frame
	// Ask asks something of the session, with its newest snapshot, or returns why the session refuses it; nil if the screen
	// only shows. accepted waits for the answer of a session that another process runs; it is nil if the session has accepted the
	// request. Quit requests the end of the session, which must end the context of Run. Both must return at once.
	Ask  func(Request) (accepted func(ctx context.Context) error, err error)
	Quit func()
	// Object reads an object of the cluster as YAML for people. It is called away from the drawing.
	Object func(ctx context.Context, o model.AppliedObject) (string, error)
	// Local returns the path here of a file of the session's machine; empty if it is not here. It is nil for a session of this machine.
	Local func(path string) string
	// Plan returns the effect of the updates that wait; nil if that cannot be known. It is called away from the drawing.
	Plan func(ctx context.Context) (view.Plan, error)
	// Revision returns the differences of a revision to the one before; nil if the ledger cannot be read. It is called away from the drawing.
	Revision func(ctx context.Context, of view.RevisionRef) ([]view.Line, error)
	// Previous reads the newest lines of the run of a container before its present one; nil if it cannot. It is called away from
	// the drawing.
	Previous func(ctx context.Context, of model.ContainerRef) ([]string, error)
	// Snapshot writes a snapshot of the session to a file and returns its path; nil if it cannot. It is called away from the
	// drawing.
	Snapshot func(ctx context.Context) (path string, err error)
	// Open shows an address in a browser.
	Open func(ctx context.Context, url string) error
	// Web returns an address of the session's web page, with a resource unless that is empty; nil if there is no page.
	Web func(resource string) (address string, err error)
	// Page is the address of that page. It lets in only browsers that have opened the page before. It is empty if there is no page.
	Page string
	// Programs are the user's programs.
	Programs Programs
	// Suspend gives the terminal, which the screen has restored, back to the user's shell, and returns when the user is back; nil
	// if it cannot. If it returns because its context has ended, the terminal belongs to the shell.
	Suspend func(ctx context.Context) error
	// Job delivers the requests of job control to the process at the terminal; nil if nothing can ask. Nothing is delivered while the
	// terminal is given away.
	Job <-chan JobControl
	// Copy puts a text into the clipboard of the user's desktop, or returns clipboard.ErrNone; nil leaves that to the terminal, which
	// always gets the text too. It is called away from the drawing.
	Copy func(ctx context.Context, text string) error
	// Layout is the first arrangement of the screen. KeepLayout, if not nil, is called when the user has changed the layout,
	// on the goroutine that draws: it must return at once.
	Layout     Layout
	KeepLayout func(Layout)
	// Beside are the other screens of the session.
	Beside Beside
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// ReadOnly is set for a screen that cannot change the session: Ask is nil, and nothing else is written on the session's
	// machine.
	ReadOnly bool
	// Leave is the name of the session for an attached screen. Leaving such a screen ends only the screen, and Quit only
	// reports that the user left.
	Leave string
	// Past is set for a screen that shows a past session; leaving it works as with Leave.
	Past bool
	// Version is shown in the help.
	Version string
	// NoColor shows everything in the terminal's two colours.
	NoColor bool

	// drew is called after each drawing; nil outside of tests.
	drew func(u *ui)
}

// JobControl is a request of job control to the process at the terminal.
type JobControl uint8

const (
	// Rest asks it to suspend itself.
	Rest JobControl = iota
	// Back reports that it continues after it was stopped without being asked. Others may have used its terminal meanwhile.
	Back
)

// Beside are the screens that show the same session. The zero value is for a session without others.
type Beside struct {
	// Others returns the resource that each of them has selected; empty for a screen without a selection. It may be called on any
	// goroutine.
	Others func() []model.ManifestName
	// Moved tells the others the selection of this screen. It does not block.
	Moved func(to model.ManifestName)
}

// local returns the path here of a file of the session's machine; empty if it is not here.
func (o Options) local(path string) string {
	if o.Local == nil {
		return path
	}
	return o.Local(path)
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
	term, err := open(o.Terminal, o.About, o.Settings)
	if err != nil {
		return err
	}
	defer term.Fini()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)

	lists := loglist.NewLister(ctx, o.Logs, o.Now)
	defer lists.Close()
	d := dress{choice: o.Settings.Theme, shown: term.Colors(), theme: theme{ascii: term.CharacterSet() != "UTF-8", noColor: o.NoColor}}
	ui := newUI(o, d.on(backgroundIn(o.About.Background)), lists)
	ui.leave, ui.done = leave, ctx.Done()
	own := &guarded{Terminal: term, gone: func(err error) { leave(err) }, focus: ui.presence.focused}
	app := tview.NewApplication().SetScreen(own)
	app.SetRoot(newRoot(ui), true).EnablePaste(true).SetInputCapture(ui.key).SetMouseCapture(ui.mouse)
	term.EnableMouse(tcell.MouseButtonEvents | tcell.MouseDragEvents) // no events while the mouse only moves
	p := &pump{ui: ui, app: app, options: o, lists: lists, dress: d}
	if out := ttyWrapperOf(term); out != nil {
		p.ttyWrapper, p.backgrounds, ui.announce = out, out.backgrounds, out.say
		term.EnableFocus()
	}
	ui.jobs, ui.sync, ui.clipboard, ui.suspend = newJobs(ctx), own.Sync, term.SetClipboard, app.Suspend
	ui.sends = sendsCopies(o.About)
	if o.Greeting != "" {
		ui.say(text.Clean(o.Greeting))
	}
	ui.abandon = func() { own.abandoned.Store(true) }
	p.begin()

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
	Volumes(source logstore.Source, to []logstore.Volume) []logstore.Volume
}

var _ Logs = (*logstore.Store)(nil)
