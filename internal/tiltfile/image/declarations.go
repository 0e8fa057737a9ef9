// Package image holds what a Tiltfile says about images: docker_build(), custom_build(), default_registry(), the steps of live
// updates, and which images are built on which.
package image

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/pkg/model"
)

// Declarations are what the Tiltfile says about images. They are used by one goroutine.
type Declarations struct {
	*eval.Evaluation
	index
	// steps are those of all live updates, and those that belong to none.
	steps []*Step
	// Registry is what default_registry says; nil where it is not called.
	Registry *model.Registry
}

// New returns the declarations of an evaluation that has just begun.
func New(e *eval.Evaluation) *Declarations {
	return &Declarations{Evaluation: e}
}

// Builtins are the functions that declare images and how they are updated in place.
func (d *Declarations) Builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"docker_build":      d.dockerBuild,
		"custom_build":      d.customBuild,
		"default_registry":  d.defaultRegistry,
		"sync":              d.sync,
		"run":               d.run,
		"fall_back_on":      d.fallBackOn,
		"restart_container": d.restartContainer,
		"restart_process":   d.restartProcess,
		"initial_sync":      d.initialSync,
	}
}
