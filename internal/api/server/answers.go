package server

import (
	"net/http"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Answers answers questions about a session in a state, at a time, in the words of its screen. It is safe for concurrent use.
type Answers interface {
	Status(v store.View, at time.Time) api.Status
	// Why answers why a resource is as it is. The error is an *intent.Refusal if there is no such resource.
	Why(v store.View, at time.Time, resource string) (api.Why, error)
}

// status handles GET /api/status.
func (s *Subscriber) status(src *source, w http.ResponseWriter, r *http.Request) {
	s.tell(src, w, r, func(a Answers, v store.View) (any, error) { return a.Status(v, s.now()), nil })
}

// why handles GET /api/why.
func (s *Subscriber) why(src *source, w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("resource")
	s.tell(src, w, r, func(a Answers, v store.View) (any, error) { return a.Why(v, s.now(), name) })
}

// tell responds with the answer to a question.
func (s *Subscriber) tell(src *source, w http.ResponseWriter, r *http.Request, question func(Answers, store.View) (any, error)) {
	if s.options.Answers == nil {
		fail(w, http.StatusConflict, "this session does not say how it is")
		return
	}
	var out any
	var err error
	switch done := s.work(r.Context(), func() { out, err = question(s.options.Answers, src.View()) }); {
	case !done:
	case err != nil:
		failBy(w, codeOf(err), err)
	default:
		respondRedacted(src, w, out)
	}
}
