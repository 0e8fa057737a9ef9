package hud

import (
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// Loss is the loss of the connection to a session on another machine, which is made again by itself. Err is the error of the last attempt; nil before
// the first one has failed.
type Loss struct {
	Since time.Time
	Err   error
}

// notice tells the user that the screen shows an old state.
func (l *Loss) notice(box string) view.Notice {
	n := view.Notice{Text: "no connection to " + text.Clean(box), Since: l.Since, Tone: view.Bad,
		Mend: "hone connects again by itself. All that is shown is from before " + l.Since.Format(time.TimeOnly) + "."}
	if l.Err == nil {
		return n
	}
	p, ok := problem.Of(l.Err)
	if !ok {
		n.Summary = text.Clean(words.FirstLine(l.Err.Error()))
		return n
	}
	n.Summary = text.Clean(p.Summary)
	if p.Cause != nil {
		n.Cause = text.Clean(words.FirstLine(p.Cause.Error()))
	}
	if p.Mend != "" {
		n.Mend += "\n" + p.Mend
	}
	return n
}
