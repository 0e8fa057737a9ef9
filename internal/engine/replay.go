package engine

import (
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/subscribers/historian"
)

// Replay writes the newest log lines of the project's earlier sessions to the logs of a session that is about to begin.
func Replay(p Parts, logs *logstore.Store) { historian.Replay(p.Past, logs) }
