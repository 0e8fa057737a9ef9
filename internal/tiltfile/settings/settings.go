// Package settings implements the settings of the whole session: update_settings(), ci_settings(),
// docker_prune_settings(), version_settings(), project(), ledger_settings().
package settings

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/identity"
	"github.com/hone-dev/hone/pkg/model"
)

// Settings are the Tiltfile's settings for the whole session. They are used by one goroutine.
type Settings struct {
	Update model.UpdateSettings
	CI     model.CISettings
	Prune  model.DockerPruneSettings
	// Adopt is the value of model.AnnotationAdopt for objects for which neither the YAML nor a call sets one; empty for
	// none.
	Adopt string

	tiltfile string
}

// New returns the defaults, for the Tiltfile with a path.
func New(tiltfile string) *Settings {
	return &Settings{tiltfile: tiltfile, Update: model.DefaultUpdateSettings, CI: model.DefaultCISettings, Prune: model.DefaultDockerPruneSettings}
}

// Builtins are the functions that change settings.
func (s *Settings) Builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"update_settings":       s.updateSettings,
		"ci_settings":           s.ciSettings,
		"docker_prune_settings": s.pruneSettings,
		"version_settings":      versionSettings,
		identity.ProjectCall:    s.project,
		identity.LedgerCall:     s.ledgerSettings,
	}
}
