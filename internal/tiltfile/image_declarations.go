package tiltfile

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/pkg/model"
)

// imageDeclarations are what the Tiltfile says about images. They are used by one goroutine.
type imageDeclarations struct {
	*eval.Evaluation
	imageIndex
	// steps are those of all live updates, and those that belong to none.
	steps []*step
	// registry is what default_registry says; nil where it is not called.
	registry *model.Registry
}

// newImageDeclarations returns the declarations of an evaluation that has just begun.
func newImageDeclarations(e *eval.Evaluation) *imageDeclarations {
	return &imageDeclarations{Evaluation: e}
}

// builtins are the functions that declare images and how they are updated in place.
func (d *imageDeclarations) builtins() map[string]eval.Function {
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
