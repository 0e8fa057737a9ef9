package server

import (
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// lag returns the containers that are behind; nil if there are none.
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
