package tiltfile

import (
	"maps"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/renderer"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/internal/tiltfile/stdlib"
)

// builtins are the functions of the language by name; a dot puts one into a module. Each topic has its own.
func (s *state) builtins() map[string]eval.Function {
	all := map[string]eval.Function{}
	for _, topic := range []map[string]eval.Function{
		s.interp.Builtins(), s.secrets.Builtins(), s.gate.Builtins(), s.ignores.Builtins(), s.images.Builtins(),
		s.k8s.Builtins(), s.services.Builtins(), s.locals.Builtins(), s.api.Builtins(), s.config.Builtins(),
		s.settings.Builtins(), s.defaults.Builtins(), renderer.Builtins(), stdlib.Builtins(),
	} {
		maps.Copy(all, topic)
	}
	return all
}

// constants are the other predeclared names; a dot puts one into a module.
func (s *state) constants() starlark.StringDict {
	all := starlark.StringDict{
		"config.tilt_subcommand": starlark.String(s.opts.Subcommand),
		"config.main_path":       starlark.String(s.Main),
		"config.main_dir":        starlark.String(s.Dir()),
	}
	maps.Copy(all, stdlib.Constants(s.Env))
	maps.Copy(all, resource.Constants())
	return all
}
