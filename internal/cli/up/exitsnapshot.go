package up

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/loop/store"
)

// exitSnapshot writes a session's last state and its logs.
func exitSnapshot(file *outputfile.File, e *engine.Engine, logs *logstore.Store) error {
	v, at := e.End()
	return writeSnapshot(context.Background(), file, v, at, logs)
}

// writeSnapshot writes the state of a session at one moment, and its logs.
func writeSnapshot(ctx context.Context, file *outputfile.File, v store.View, at time.Time, logs *logstore.Store) error {
	logs.Flush()
	of := snapshot.Session{View: v, Shown: server.View(v, command.Version), Logs: logs, Redactor: redact.Of(v), Version: command.Version, At: at}
	return file.Write(func(w io.Writer) error { return of.Write(ctx, w) })
}

// saver returns the function by which screens save snapshots of the session, each to a file of its own in the state folder.
func saver(st *store.Store, logs *logstore.Store, c *sessions.Claim) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		s := st.Snapshot()
		path := filepath.Join(command.StateDir(), "snapshots", c.Info().Name+"-"+s.At.Format("20060102-150405.000")+".json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", fmt.Errorf("make the folder of the snapshot: %w", err)
		}
		file, err := snapshot.Open(path)
		if err != nil {
			return "", err
		}
		return path, writeSnapshot(ctx, file, s.All(), s.At, logs)
	}
}
