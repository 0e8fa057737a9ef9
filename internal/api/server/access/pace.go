package access

import (
	"context"
	"net/http"

	"golang.org/x/time/rate"
)

// A listener answers this many refusals per second, after an initial burst: each costs the session a connection and the data that
// arrives before the refusal. Otherwise, programs that try one request after another could keep the machine busy and make the
// session wait for a processor.
const refusals, refusalsAtOnce = 50, 100

// Pace delays the answers to refused requests where there are many of them, until stop is done.
// Requests that are served wait for nothing.
func Pace(stop context.Context, next http.Handler) http.Handler {
	paced := rate.NewLimiter(refusals, refusalsAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &coded{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		if !refused(answer.code) {
			return
		}
		// The response is sent when the handler returns. A client that disconnects meanwhile also waits: otherwise it would
		// come back at once.
		_ = paced.Wait(stop)
	})
}

// refused reports whether a status code rejects the request itself rather than its target: clients legitimately poll whether
// an object exists or has changed.
func refused(code int) bool {
	switch code {
	case http.StatusNotFound, http.StatusConflict, http.StatusGone:
		return false
	}
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// coded remembers the status code of an answer.
type coded struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (c *coded) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (c *coded) Unwrap() http.ResponseWriter { return c.ResponseWriter }
