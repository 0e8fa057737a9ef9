package flags

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// SessionVariable is the environment variable that names the session to the commands that it starts.
const SessionVariable = "HONE_SESSION"

// Registry returns the registry of this user's running sessions.
func Registry() *sessions.Registry {
	return sessions.New(sessions.Dir(xdg.RuntimeDir, command.StateDir()))
}

// Remembered returns the projects that this user's sessions have run.
func Remembered() *sessions.Projects {
	return sessions.NewProjects(filepath.Join(command.StateDir(), "names"))
}
