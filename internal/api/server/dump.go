package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/sync/semaphore"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
)

// dump responds with a document that may be long. It is written from one snapshot as fast as the client reads it, taking turns
// with other requests. A client that does not read loses the connection. A truncated response is not terminated properly, so
// that clients do not mistake it for a complete one.
func (s *Subscriber) dump(src *source, write func(context.Context, snapshot.Session, io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.options.Logs == nil {
			fail(w, http.StatusNotFound, "this session keeps no logs")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodHead {
			return
		}
		if s.working.Acquire(r.Context(), 1) != nil {
			return
		}
		defer s.working.Release(1)
		v := src.View()
		of := snapshot.Session{View: v, Shown: View(v, s.options.Version), Logs: s.options.Logs, Redactor: src.Redactor(v),
			Version: s.options.Version, At: s.now()}
		if s.past != nil {
			of.Version, of.Events = s.past.By, s.past.Events
		}
		if err := write(r.Context(), of, extending{w, s.working}); err != nil {
			s.options.Log.Info("a dump was aborted", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // so that the answer does not look complete; not a bug
		}
	}
}

// writeSnapshot responds to GET /api/snapshot. With logs, it takes PermissionSnapshot.
func (s *Subscriber) writeSnapshot(src *source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		logs := true
		if text := r.URL.Query().Get("logs"); text != "" {
			var err error
			if logs, err = strconv.ParseBool(text); err != nil {
				fail(w, http.StatusBadRequest, fmt.Sprintf("logs: %q is neither true nor false", words.Clip(text, access.MostEchoed)))
				return
			}
		}
		if a := access.ActorOf(r.Context()); logs && !a.May(api.PermissionSnapshot) {
			forbid(w, r, a, api.PermissionSnapshot)
			return
		}
		s.dump(src, func(ctx context.Context, of snapshot.Session, w io.Writer) error {
			of.StateOnly = !logs
			return of.Write(ctx, w)
		})(w, r)
	}
}

// extending is an answer that may take as long as its client keeps reading. It holds a unit of the limit of working requests,
// except while it waits for the network.
type extending struct {
	http.ResponseWriter
	working *semaphore.Weighted
}

// Write implements io.Writer.
func (e extending) Write(b []byte) (int, error) {
	e.working.Release(1)
	defer func() { _ = e.working.Acquire(context.Background(), 1) }() // ServeHTTP releases it
	access.Extend(e.ResponseWriter)
	return e.ResponseWriter.Write(b)
}
