package command

import (
	"context"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
	"github.com/hone-dev/hone/internal/tiltfile/identity"
)

// StateDir returns the folder for files that outlive a session.
func StateDir() string { return filepath.Join(xdg.StateHome, "hone") }

// LedgerDir returns the folder for the records of deployed objects.
func LedgerDir() string { return filepath.Join(StateDir(), "ledger") }

// Ledgers returns the ledgers of this machine.
func Ledgers() *ledger.Ledgers {
	dir := LedgerDir()
	return ledger.In(func(context.Context) (storage.Storage, error) { return folder.New(dir), nil }, ledger.Options{Dir: dir, Getenv: os.Getenv})
}

// ImagesDir returns the folder that remembers which images were built from which inputs.
func ImagesDir() string { return filepath.Join(StateDir(), "images") }

// VerdictsDir returns the folder for the verdicts of tests.
func VerdictsDir() string { return filepath.Join(StateDir(), "verdicts") }

// HolderVariable names the environment variable for the holder's name. Machines with the same holder manage the same deployed
// objects together.
const HolderVariable = "HONE_HOLDER"

// LedgerVariable names the environment variable for the URL of the ledger.
const LedgerVariable = "HONE_LEDGER"

// BuilderVariable is the environment variable for the name or the address of the builder of images.
const BuilderVariable = "HONE_BUILDER"

// AddBuilderFlag adds --builder.
func AddBuilderFlag(c *cobra.Command, named *string) {
	c.Flags().StringVar(named, "builder", "", "name or address of the builder of images: default for the engine's own, a name that docker buildx knows, unix://…, tcp://… or ssh://… (default: "+BuilderVariable+", else the engine's own)")
}

// Projects returns the registry of this user's projects.
func Projects() *project.Registry {
	return project.New(filepath.Join(StateDir(), "projects"), LedgerDir()).As(os.Getenv(HolderVariable)).At(os.Getenv(LedgerVariable)).Reading(declared)
}

// declared reads which project a Tiltfile belongs to.
func declared(tiltfile string) (project.Declared, bool, error) {
	is, ok, err := identity.Read(tiltfile)
	return project.Declared{Name: is.Project, Ledger: is.Ledger}, ok, err
}
