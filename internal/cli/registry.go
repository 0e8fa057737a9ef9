package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/client/sessions"
)

// sessionVariable names the session in the environment of the commands that it starts.
const sessionVariable = "HONE_SESSION"

// registry is that of this user's sessions.
func registry() *sessions.Registry { return sessions.New(sessions.Dir(xdg.RuntimeDir, stateDir())) }

// remembered are the projects that this user's sessions have run.
func remembered() *sessions.Projects { return sessions.NewProjects(filepath.Join(stateDir(), "names")) }
