package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/tiltfileloader"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/model"
)

// Resumed returns the state that a paused session would be in after it had resumed and evaluated its Tiltfile, if that is due. The
// session itself stays paused, and learns nothing. An error has no secrets in it.
func Resumed(ctx context.Context, v store.View, o tiltfile.Options) (store.View, error) {
	if !state.TheSession(v).Paused() {
		return v, nil
	}
	at := v.At
	v = v.If(state.SessionResumed{}).All()
	t := state.TheTiltfile(v)
	if !t.Due(state.TheSession(v)) {
		return v, nil
	}
	o = tiltfileloader.Asked(v, o)
	o.Logger = logstore.Discard
	secrets := t.Result.Secrets
	o.OnSecrets = func(more []model.Secret) { secrets = slices.Concat(secrets, more) }
	r := tiltfile.Load(ctx, o)
	if r.Err != nil {
		return v, errors.New(logstore.NewScrubber(secrets).Text(problem.Text(r.Err)))
	}
	return v.If(state.TiltfileStarted{At: at}, state.TiltfileLoaded{Result: r.Tiltfile, At: at}).All(), nil
}
