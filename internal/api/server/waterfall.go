package server

import (
	"encoding/json"
	"math"
	"net/http"

	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/loop/waterfall"
	"github.com/hone-dev/hone/pkg/api"
)

// waterfall handles GET /api/waterfall.
func (s *Subscriber) waterfall(src *source, w http.ResponseWriter, r *http.Request) {
	var doc []byte
	var err error
	v := src.View()
	if !s.work(r.Context(), func() { doc, err = json.Marshal(waterfall.Of(s.kept(v), s.now()).API()) }) {
		return
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(src.Redactor(v).JSON(doc))
}

// kept returns all events of the session that are kept.
func (s *Subscriber) kept(v store.View) []api.Event {
	if s.past != nil {
		return s.past.Events
	}
	var all events.Cursor
	out, _ := all.Next(v, math.MaxInt)
	return out
}
