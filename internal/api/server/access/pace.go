package access

import (
	"context"
	"net/http"

	"golang.org/x/time/rate"
)

// A door refuses so many requests per second, and before that so many at once: each costs the session a connection, and what
// was sent until it was clear that it is refused. Programs that try one thing after the other would otherwise keep the
// machine busy, and the session waiting for a processor.
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
		// What was written leaves when the handler returns. A client that goes away in the meantime waits as well: it
		// would come back at once.
		_ = paced.Wait(stop)
	})
}

// refused reports whether a status code blames the request itself, rather than what it asks for: clients ask again and again
// whether something is there, or has changed.
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
