package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/server/turn"
	"github.com/hone-dev/hone/internal/api/snapshot"
)

// dump answers with a document that may be long. It is written out of one snapshot as fast as the client takes it, in turn with
// other requests; a client that takes nothing loses the connection. An answer that breaks off has no end, so that nobody takes it for whole.
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
		if !s.turns.Take(r.Context()) {
			return
		}
		defer s.turns.Leave()
		v := src.View()
		of := snapshot.Session{View: v, Shown: View(v, s.options.Version), Logs: s.options.Logs, Redactor: src.Redactor(v),
			Version: s.options.Version, At: time.Now()}
		if err := write(r.Context(), of, extending{w, s.turns}); err != nil {
			s.options.Log.Info("a dump broke off", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

// extending is an answer that may take as long as its client goes on to take it. Whoever writes it has a turn, and leaves it to
// others while the network is waited for.
type extending struct {
	http.ResponseWriter
	turns turn.Turns
}

// Write implements io.Writer.
func (e extending) Write(b []byte) (int, error) {
	e.turns.Leave()
	defer e.turns.Retake()
	access.Extend(e.ResponseWriter)
	return e.ResponseWriter.Write(b)
}
