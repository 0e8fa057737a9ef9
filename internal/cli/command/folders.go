package command

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/base/project"
)

// StateDir returns the folder for files that outlive a session.
func StateDir() string { return filepath.Join(xdg.StateHome, "hone") }

// LedgerDir returns the folder for the records of deployed objects.
func LedgerDir() string { return filepath.Join(StateDir(), "ledger") }

// Projects returns the registry of this user's projects.
func Projects() *project.Registry {
	return project.New(filepath.Join(StateDir(), "projects"), LedgerDir())
}
