package buildcontroller

import (
	"fmt"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// sayComebacks tells which updates wait for crashed containers to start again.
func (s *Subscriber) sayComebacks(v store.View, plan buildcontrol.Plan, changes []state.HoldChange) {
	for _, c := range changes {
		h := plan.Holds[c.Resource]
		if c.Reason != string(buildcontrol.HoldDeploy) || h.Detail == "" {
			continue
		}
		u := state.Updates.In(v).Value(string(c.Resource))
		log := s.logs.Logger(c.Resource, fmt.Sprintf("build:%s:%d", c.Resource, u.Serial), logstore.SourceBuild)
		files := state.Relative(state.TheTiltfile(v).Path, state.AllChanges(u.Pending()))
		logstore.Infof(log, "%s; the update %s", state.FilesChangedText(files), h)
	}
}
