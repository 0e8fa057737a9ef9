package tiltfile

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// configDeclarations are the settings that the Tiltfile defines, and the resources that it enables. They are used by one
// goroutine.
type configDeclarations struct {
	*eval.Evaluation
	// args are the arguments of the command line.
	args          []string
	flags         configFlags
	enabledByCall bool
	enabled       []string
	// enableAll is set where the last call named none, which means all.
	enableAll   bool
	enabledSite fault.Site
}

// newConfigDeclarations returns the declarations of an evaluation that has just begun.
func newConfigDeclarations(e *eval.Evaluation, args []string) *configDeclarations {
	return &configDeclarations{Evaluation: e, args: args, flags: configFlags{defs: map[string]*flagDef{}}}
}

// builtins are the functions of the module config.
func (d *configDeclarations) builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"config.define_string":           d.define(kindString),
		"config.define_string_list":      d.define(kindStringList),
		"config.define_bool":             d.define(kindBool),
		"config.define_object":           d.define(kindObject),
		"config.parse":                   d.parse,
		"config.set_enabled_resources":   d.setEnabled,
		"config.clear_enabled_resources": d.clearEnabled,
	}
}
