package tiltfile

import (
	"maps"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
)

// builtins are the functions of the language by name; a dot puts one into a module. Each topic has its own.
func (s *state) builtins() map[string]eval.Function {
	all := map[string]eval.Function{}
	for _, topic := range []map[string]eval.Function{
		s.interp.builtins(), s.secrets.builtins(), s.gate.builtins(), s.ignores.builtins(), s.images.builtins(),
		s.k8s.builtins(), s.services.builtins(), s.locals.builtins(), s.api.builtins(), s.config.builtins(),
		s.settings.builtins(), s.defaults.builtins(), rendererBuiltins(), stdlibBuiltins(),
	} {
		maps.Copy(all, topic)
	}
	return all
}

// constants are the other predeclared names; those with a dot stand in a module.
func (s *state) constants() starlark.StringDict {
	all := starlark.StringDict{
		"config.tilt_subcommand": starlark.String(s.opts.Subcommand),
		"config.main_path":       starlark.String(s.Main),
		"config.main_dir":        starlark.String(s.Dir()),
	}
	maps.Copy(all, stdlibConstants(s.Env))
	maps.Copy(all, resourceConstants())
	return all
}
