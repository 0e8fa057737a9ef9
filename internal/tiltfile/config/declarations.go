// Package config implements the module config: settings that a Tiltfile defines and reads from the command line and
// from tilt_config.json, and the resources that it enables.
package config

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// Declarations are the settings that the Tiltfile defines, and the resources that it enables. They are used by one
// goroutine.
type Declarations struct {
	*eval.Evaluation
	// args are the arguments of the command line.
	args          []string
	flags         flags
	enabledByCall bool
	enabledNames  []string
	// enableAll is set where the last call named no resource, which means all.
	enableAll   bool
	enabledSite fault.Site
}

// New returns the empty declarations of an evaluation.
func New(e *eval.Evaluation, args []string) *Declarations {
	return &Declarations{Evaluation: e, args: args, flags: flags{defs: map[string]*flagDef{}}}
}

// Builtins are the functions of the module config.
func (d *Declarations) Builtins() map[string]eval.Function {
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
