package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/base/project"
)

// stateDir is where hone keeps what outlives a session.
func stateDir() string { return filepath.Join(xdg.StateHome, "hone") }

// ledgerDir is where the records of what was deployed are.
func ledgerDir() string { return filepath.Join(stateDir(), "ledger") }

// projects are those of this user.
func projects() *project.Registry {
	return project.New(filepath.Join(stateDir(), "projects"), ledgerDir())
}
