package server

import (
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/api"
)

// lag returns the containers that are behind; nil if there are none.
func lag(s *status.Resource) *api.Lag {
	if len(s.Behind) == 0 {
		return nil
	}
	out := &api.Lag{Of: s.Of}
	for _, b := range s.Behind {
		out.Behind = append(out.Behind, api.Behind{Namespace: b.Namespace, Pod: b.Pod, Container: b.Container, Files: b.Files, Since: b.Since})
	}
	return out
}
