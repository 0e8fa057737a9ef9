package server

import (
	"time"

	"github.com/hone-dev/hone/internal/buildcontrol"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func containers(list []model.ContainerUpdate) []api.ContainerUpdate {
	var out []api.ContainerUpdate
	for _, c := range list {
		s := c.Stages
		out = append(out, api.ContainerUpdate{Namespace: c.Namespace, Pod: c.Pod, Container: c.Container, ID: c.ID, Mode: c.Mode,
			Files: c.Files, Deletes: c.Deletes, Same: c.Same, Bytes: c.Bytes, TotalMs: ms(s.Total()), Error: c.Err, Behind: c.Behind,
			Stages: api.Stages{NoticedMs: ms(s.Noticed), WaitedMs: ms(s.Waited), SentMs: ms(s.Sent), AppliedMs: ms(s.Applied),
				RanMs: ms(s.Ran), RestartedMs: ms(s.Restarted)}})
	}
	return out
}

func ms(d time.Duration) api.Milliseconds {
	return api.Milliseconds(float64(d.Round(time.Microsecond)) / float64(time.Millisecond))
}

// lag is nil when no container is behind.
func lag(m model.Manifest, u state.Update, pods []state.Pod) *api.Lag {
	behind, of := buildcontrol.Behind(m, u, pods)
	if len(behind) == 0 {
		return nil
	}
	out := &api.Lag{Of: of}
	for _, b := range behind {
		out.Behind = append(out.Behind, api.Behind{Namespace: b.Namespace, Pod: b.Pod, Container: b.Container, Files: b.Files, Since: b.Since})
	}
	return out
}
