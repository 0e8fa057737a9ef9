package command

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/base/project"
)

// StateDir is the folder for what outlives a session.
func StateDir() string { return filepath.Join(xdg.StateHome, "hone") }

// LedgerDir is the folder for the records of what was deployed.
func LedgerDir() string { return filepath.Join(StateDir(), "ledger") }

// Projects is the registry of this user's projects.
func Projects() *project.Registry {
	return project.New(filepath.Join(StateDir(), "projects"), LedgerDir())
}
