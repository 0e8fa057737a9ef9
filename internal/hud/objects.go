package hud

import (
	"context"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ReadObject returns an object of the cluster as YAML for people: as it is now, without the values of Secrets. An error is a
// problem unless the context has ended. It is called when the user asks for an object, away from the drawing.
type ReadObject func(ctx context.Context, o model.AppliedObject) (string, error)

// reader returns a ReadObject that also hides the secrets of the session where objects that are no Secrets hold them. v
// returns the current state.
func (read ReadObject) reader(v func() store.View) ReadObject {
	return func(ctx context.Context, o model.AppliedObject) (string, error) {
		if read == nil {
			return "", problem.New("this session has no cluster", "Objects can be read while a session with a cluster runs")
		}
		text, err := read(ctx, o)
		if err != nil {
			return "", err
		}
		return logstore.NewScrubber(state.TheTiltfile(v()).Result.Secrets).Text(text), nil
	}
}
