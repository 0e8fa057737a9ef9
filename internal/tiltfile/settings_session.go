package tiltfile

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/pkg/model"
)

// sessionSettings are what the Tiltfile says about the whole session. They are used by one goroutine.
type sessionSettings struct {
	update model.UpdateSettings
	ci     model.CISettings
	prune  model.DockerPruneSettings
}

// newSessionSettings returns the defaults.
func newSessionSettings() *sessionSettings {
	return &sessionSettings{update: model.DefaultUpdateSettings, ci: model.DefaultCISettings, prune: model.DefaultDockerPruneSettings}
}

// builtins are the functions that change settings.
func (s *sessionSettings) builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"update_settings":       s.updateSettings,
		"ci_settings":           s.ciSettings,
		"docker_prune_settings": s.pruneSettings,
		"version_settings":      versionSettings,
	}
}
