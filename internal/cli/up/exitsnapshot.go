package up

import (
	"context"
	"io"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/session"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/loop/store"
)

// exitSnapshot writes a session's last state and its logs.
func exitSnapshot(file *outputfile.File, e *engine.Engine, logs *logstore.Store) error {
	v, at := e.End()
	return file.Write(func(w io.Writer) error { return writeSnapshot(context.Background(), w, v, at, logs) })
}

// writeSnapshot writes the state of a session at one moment, and its logs.
func writeSnapshot(ctx context.Context, w io.Writer, v store.View, at time.Time, logs *logstore.Store) error {
	logs.Flush()
	of := snapshot.Session{View: v, Shown: server.View(v, command.Version), Logs: logs, Redactor: redact.Of(v), Version: command.Version, At: at}
	return of.Write(ctx, w)
}

// saver returns the function by which screens save snapshots of the session, each to a file of its own in the state folder.
func saver(st *store.Store, logs *logstore.Store, c *sessions.Claim) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		s := st.Snapshot()
		return session.SaveSnapshot(c.Info().Name, s.At, func(w io.Writer) error { return writeSnapshot(ctx, w, s.All(), s.At, logs) })
	}
}
