package up

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/hud/stream"
)

// keptLines is the number of log lines that a session keeps at its end: the user waits for them to be written.
const keptLines = 50_000

// sessionLogs returns the folder for the logs of sessions: of background sessions while they run, of other sessions from their end
// on.
func sessionLogs() string { return filepath.Join(command.StateDir(), "sessions") }

// keepLog writes the newest lines of a session's log to a file for after its end, and returns the file.
func keepLog(logs *logstore.Store, name string) (path string, err error) {
	path = filepath.Join(sessionLogs(), name+".log")
	if err := os.MkdirAll(sessionLogs(), 0o700); err != nil {
		return "", fmt.Errorf("create the folder of logs: %w", err)
	}
	logs.Flush()
	_ = os.Remove(path + ".1") // of an earlier session
	return path, atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		return stream.New(stream.Options{Logs: logs, Out: w, Last: keptLines, Color: stream.ColorNever}).Drain()
	})
}
