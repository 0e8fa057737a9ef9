package server

import (
	"context"
	"net/http"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// SettleBy sets what waits until changes of files that were made before the call have been dispatched, and returns when the last
// ones were. Call it before Run.
func (s *Subscriber) SettleBy(settled func(context.Context) (time.Time, error)) *Subscriber {
	s.settled = settled
	return s
}

// settle handles POST /api/settle.
func (s *Subscriber) settle(src *source, w http.ResponseWriter, r *http.Request) {
	var req struct{}
	if !decode(w, r, &req) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), takeTimeout)
	defer cancel()
	respond(w, api.Settled{Known: s.known(ctx, src)})
}

// known waits until the state has the changes of files that were made before the call, and reports whether it does.
func (s *Subscriber) known(ctx context.Context, src *source) bool {
	if s.settled == nil {
		return true
	}
	at, err := s.settled(ctx)
	if err == nil {
		_, err = src.writer.Reduced(ctx, at)
	}
	return err == nil
}
