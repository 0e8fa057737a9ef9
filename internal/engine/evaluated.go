package engine

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/tiltfileloader"
	"github.com/hone-dev/hone/internal/tiltfile"
)

// BeforeSession returns the state of a session that could not begin, with the evaluation of its Tiltfile if there was one.
func BeforeSession(s state.Session, e *tiltfile.Evaluated) store.View {
	if e == nil {
		return store.New(state.Schema).Snapshot().All()
	}
	ended := time.Now()
	began := ended.Add(-e.Result.Took)
	st := store.New(state.Schema, store.WithClock(func() time.Time { return began }))
	st.Dispatch(state.SessionStarted{Session: s}, state.TiltfileStarted{At: began}, tiltfileloader.Loaded(e.Result, e.Result.Secrets, ended))
	st.Step()
	return st.Snapshot().All()
}
