package view

import (
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Pending lists the changes that no update has taken in yet: for each resource the files, and why it has not been updated.
func Pending(v store.View, now time.Time) []Line {
	b := newBuilder(v, now)
	p := page{now: now}
	if t := b.tiltfile; t.Pending() && t.Runs > 0 {
		line := p.add(2, Span{string(model.TiltfileName) + "  ", Strong}, Span{t.Reason(), Warn})
		line.Target.Resource = model.TiltfileName
	}
	for _, e := range state.Ordered(v) {
		m, u := e.Value.Manifest, state.Updates.In(v).Value(e.ID)
		files := state.Relative(b.tiltfile.Path, state.AllChanges(u.Pending()))
		hold, held := b.plan.Holds[m.Name]
		if (len(files) == 0 && hold.Reason != buildcontrol.HoldConfirm) || !e.Value.Enabled {
			continue
		}
		why := "an update is about to begin"
		if held {
			why = hold.String()
			if hold.Reason == buildcontrol.HoldBuilding {
				why = "once the update that runs has ended"
			}
		}
		changed := ""
		if len(files) > 0 {
			changed = words.Count(len(files), "file") + "  "
		}
		line := p.add(2, Span{e.ID + "  ", Strong}, Span{changed, Plain}, Span{why, Warn}, Span{b.heldSince(m, u), Dim})
		line.Target.Resource = m.Name
		p.lines = append(p.lines, b.fileLines(files, 4)...)
	}
	for _, name := range b.session.Confirmation.Leaving {
		line := p.add(2, Span{string(name) + "  ", Strong}, Span{intent.LeavingText, Warn})
		line.Target.Resource = name
	}
	return p.lines
}
