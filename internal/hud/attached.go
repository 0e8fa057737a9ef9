package hud

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/hone-dev/hone/internal/base/clipboard"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Attached is the screen of a session that another process runs. Its state and its logs are copies, which the caller keeps up to date.
type Attached struct {
	// Session is the session's name, and ID the id of this screen.
	Session, ID string
	// View returns the newest state, Loop the duration of the newest batch of the session's store, and Changed delivers a value after
	// each change of either.
	View    func() store.View
	Loop    func() time.Duration
	Changed <-chan struct{}
	Logs    *logstore.Store
	// Send has the session carry out an action that was decided on the state v, and returns its refusal. Moved tells the session the
	// resource that is selected, and returns at once.
	Send  func(ctx context.Context, v store.View, a store.Action) error
	Moved func(to model.ManifestName)
	// Object, Previous, Plan, Revision, Snapshot and Web are as in Options.
	Object   ReadObject
	Previous ReadPrevious
	Plan     MakePlan
	Revision ReadRevision
	Snapshot func(ctx context.Context) (path string, err error)
	Web      func(resource string) (address string, err error)
	Page     string
	Ignores  view.Ignores
	// ReadOnly is set for a screen that does not change the session.
	ReadOnly bool
	// Lost returns the loss of the connection to the session; nil while it is there. Box names the machine of a session that was reached
	// by ssh, to which the connection can be lost alone; the header names it, too.
	Lost func() *Loss
	Box  string
	// Notices are problems of this machine; nil if there are none.
	Notices func() []view.Notice
	// Elsewhere is set if the session may run on another machine, whose files this one does not have.
	Elsewhere bool
	// Local returns the path here of a file of the session's machine; empty if it is not here. It is nil if the paths are the same.
	Local func(path string) string
	// Greeting is shown for a moment at the beginning; empty for none.
	Greeting string
	// Readable returns why the user cannot open a file of the session in an editor here, and Shell is as in screen.Programs.
	Readable func(path string) error
	Shell    func(ctx context.Context, resource, pod, container string) error
	// Screen, Settings, LayoutFile and Version are as in Options.
	Screen     screen.Terminal
	Settings   settings.Settings
	Suspend    func(ctx context.Context) error
	LayoutFile string
	Version    string
}

// Show shows the session in full screen until the user leaves it, the terminal is lost, or ctx is done. left reports whether the user
// has left it.
func (a Attached) Show(ctx context.Context) (left bool, err error) {
	layout := openLayout(a.LayoutFile)
	defer layout.close()
	about := terminal.FromEnvironment(os.Getenv)
	if a.Elsewhere && a.Local == nil {
		about.Host = "" // links to files would lead nowhere
	}
	job := newJobControl(a.Screen, a.Suspend)
	programs := ownPrograms(a.Shell)
	edit := programs.Edit
	programs.Edit = func(ctx context.Context, path string, line int) error {
		if a.Local != nil {
			path = cmp.Or(a.Local(path), path)
		}
		if err := a.Readable(path); err != nil {
			return err
		}
		return edit(ctx, path, line)
	}
	o := screen.Options{
		Terminal:   a.Screen,
		About:      about,
		Settings:   a.Settings,
		Logs:       a.Logs,
		Changed:    a.Changed,
		Frame:      a.frame,
		Local:      a.Local,
		Greeting:   a.Greeting,
		Beside:     beside(a.ID, a.View, a.Moved),
		Ask:        a.ask,
		Plan:       a.Plan.reader(a.View),
		Revision:   a.Revision.reader(a.View),
		Object:     a.Object.reader(a.View),
		Previous:   a.Previous.reader(a.View),
		Programs:   job.programs(programs),
		Suspend:    job.suspend(a.Suspend),
		Job:        job.asks(),
		Copy:       clipboard.Copy,
		Layout:     layout.first,
		KeepLayout: layout.keep,
		Snapshot:   a.Snapshot,
		Open:       OpenBrowser,
		Web:        a.Web,
		Page:       a.Page,
		Quit:       func() { left = true }, // on a goroutine that has ended when Run returns
		Leave:      a.Session,
		Version:    a.Version,
		NoColor:    os.Getenv("NO_COLOR") != "",
	}
	if a.ReadOnly {
		o.ReadOnly, o.Ask, o.KeepLayout, o.Snapshot = true, nil, nil, nil
		o.Web = nil // the page can change the session
	}
	job.hold()
	defer job.free()
	err = screen.Run(ctx, o)
	return left, err
}

// frame returns the newest known state of the session, and says when it may be old.
func (a Attached) frame(now time.Time) screen.Frame {
	f := screen.FrameOf(a.View(), now, a.Loop(), a.Ignores)
	f.View.Header.Box = text.Clean(a.Box)
	if a.Notices != nil {
		f.View.Notices = append(f.View.Notices, a.Notices()...)
	}
	if lost := a.Lost(); lost != nil {
		f.View.Notices = append([]view.Notice{lost.notice(a.Box)}, f.View.Notices...)
	}
	return f
}

// ask decides a request on the newest state that has arrived, as the session would. The session, which may have changed meanwhile,
// decides again.
func (a Attached) ask(w screen.Request) (accepted func(ctx context.Context) error, err error) {
	v := a.View()
	action, err := w(v)
	if err != nil || action == nil {
		return nil, err
	}
	return func(ctx context.Context) error { return a.Send(ctx, v, action) }, nil
}

// beside are the other screens of a session for the one with an id.
func beside(id string, v func() store.View, moved func(to model.ManifestName)) screen.Beside {
	var at model.ManifestName
	return screen.Beside{
		Others: func() []model.ManifestName { return state.OtherScreens(v(), id) },
		Moved: func(to model.ManifestName) {
			if to != at {
				at = to
				moved(to)
			}
		}}
}
