package up

import (
	"context"
	"io"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/engine"
)

// exitSnapshot writes a session's last state and its logs.
func exitSnapshot(file *outputfile.File, e *engine.Engine, logs *logstore.Store) error {
	logs.Flush()
	v, at := e.End()
	of := snapshot.Session{View: v, Shown: server.View(v, command.Version), Logs: logs, Redactor: redact.Of(v), Version: command.Version, At: at}
	return file.Write(func(w io.Writer) error { return of.Write(context.Background(), w) })
}
