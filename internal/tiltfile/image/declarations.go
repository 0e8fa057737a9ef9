// Package image implements the builtins for images: docker_build(), custom_build(), default_registry(), image_cache(), builder() and the steps
// of live updates. It also finds the images that each image is built on.
package image

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// Declarations are the Tiltfile's declarations of images. They are used by one goroutine.
type Declarations struct {
	*eval.Evaluation
	index
	// steps are the steps of all live updates, and the steps that belong to none.
	steps []*Step
	// Registry is set by default_registry; nil where it is not called.
	Registry *model.Registry
	// Cache is set by image_cache; nil where it is not called.
	Cache *model.ImageCache
	// Builder is set by builder; nil where it is not called.
	Builder *model.Builder
	// BuilderCluster is the name of the cluster of the builder; empty for the session's own. BuilderSite is the call.
	BuilderCluster string
	BuilderSite    fault.Site
}

// New returns the empty declarations of an evaluation.
func New(e *eval.Evaluation) *Declarations {
	return &Declarations{Evaluation: e}
}

// Builtins are the functions that declare images and their live updates.
func (d *Declarations) Builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"docker_build":      d.dockerBuild,
		"custom_build":      d.customBuild,
		"default_registry":  d.defaultRegistry,
		"image_cache":       d.imageCache,
		"builder":           d.builder,
		"sync":              d.sync,
		"run":               d.run,
		"fall_back_on":      d.fallBackOn,
		"restart_container": d.restartContainer,
		"restart_process":   d.restartProcess,
		"initial_sync":      d.initialSync,
	}
}

// Names returns the references of the images that are declared so far.
func (d *Declarations) Names() (names []string) {
	for _, im := range d.List {
		names = append(names, im.Ref)
	}
	return names
}
