package buildcontroller

import (
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// nameCircles warns of the endless loops that the changes of holds slow down.
func (s *Subscriber) nameCircles(v store.View, changes []state.HoldChange) {
	for _, c := range changes {
		if c.Reason != string(buildcontrol.HoldCircle) {
			continue
		}
		u := state.Updates.In(v).Value(string(c.Resource))
		if !u.Endless() {
			continue
		}
		files := state.Relative(state.TheTiltfile(v).Path, state.AllChanges(u.Pending()))
		log := s.logs.Logger(c.Resource, fmt.Sprintf("build:%s:%d", c.Resource, u.Serial), logstore.SourceBuild)
		logstore.Warnf(log, "WARNING: %s", circleText(string(c.Resource), files, u.Circle))
	}
}

// circleText names an endless loop, and says how to leave it.
func circleText(resource string, files []string, c state.Circle) string {
	with := ""
	for _, name := range c.Led {
		if string(name) != resource {
			with += fmt.Sprintf(" with %s", name)
		}
	}
	return fmt.Sprintf("%s is in a loop%s: %d updates in a row have changed what %s depends on (%s); the next one waits for %s. "+
		"Leave out of deps= what the updates write, or ignore it with ignore= or watch_settings(ignore=…)",
		resource, with, c.Rounds+1, resource, strings.Join(files, ", "), c.PauseText())
}
