package hud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hone-dev/hone/internal/base/clipboard"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Past is a session as it was at one moment.
type Past struct {
	View store.View
	At   time.Time
	Logs *logstore.Store
	// By is the version of hone that ran the session, and Version is the version of this hone.
	By, Version string
	// Screen is the terminal to draw on; nil means the terminal of the process.
	Screen screen.Terminal
	// Settings are the user's choices for the screen.
	Settings settings.Settings
	// Suspend gives the terminal back to the user's shell; see screen.Options.
	Suspend func(ctx context.Context) error
	// NoColor disables colours; so does NO_COLOR in the environment.
	NoColor bool
}

// Show shows the session in full screen until the user leaves it, the terminal is lost, or ctx is done. Ages are relative to
// the time of the snapshot, and nothing changes.
func (p Past) Show(ctx context.Context) error {
	shown := p.Shown()
	job := newJobControl(p.Screen, p.Suspend)
	job.hold()
	defer job.free()
	err := screen.Run(ctx, screen.Options{
		Terminal: p.Screen,
		About:    terminal.FromEnvironment(os.Getenv),
		Settings: p.Settings,
		Logs:     p.Logs,
		Frame: func(time.Time) screen.Frame {
			f := screen.FrameOf(p.View, p.At, 0, view.Ignores{})
			f.View = shown
			return f
		},
		Programs: job.programs(ownPrograms(nil)),
		Suspend:  job.suspend(p.Suspend),
		Job:      job.asks(),
		Copy:     clipboard.Copy,
		Object:   ReadObject(nil).reader(func() store.View { return p.View }),
		Previous: ReadPrevious(nil).reader(func() store.View { return p.View }),
		Quit:     func() {},
		Past:     true,
		Open:     OpenBrowser,
		Version:  p.Version,
		NoColor:  p.NoColor || os.Getenv("NO_COLOR") != "",
	})
	if errors.Is(err, screen.ErrGone) {
		return nil
	}
	return err
}

// Shown returns the view of the main screen, with a notice that the session is past.
func (p Past) Shown() view.View {
	v := view.Build(p.View, p.At, 0)
	notice := fmt.Sprintf("a session as it was on %s, run by hone v%s", p.At.Local().Format(time.DateTime), p.By)
	v.Notices = append([]view.Notice{{Text: notice, Summary: notice, Since: p.At, Tone: view.Accent}}, v.Notices...)
	v.Refresh = 24 * time.Hour // nothing ages
	return v
}
