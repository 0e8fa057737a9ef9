// Package dockercompose holds what a Tiltfile says about Docker Compose: docker_compose() and dc_resource(). It makes
// resources of the services.
package dockercompose

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/pkg/model"
)

// Declarations are what the Tiltfile says about Docker Compose. They are used by one goroutine.
type Declarations struct {
	*eval.Evaluation
	images   *image.Declarations
	defaults *resource.Defaults
	projects []*composeProject
	// options are the calls of dc_resource in order.
	options []*composeOptions
}

// New returns the declarations of an evaluation that has just begun. Services may run the given images.
func New(e *eval.Evaluation, images *image.Declarations, defaults *resource.Defaults) *Declarations {
	return &Declarations{Evaluation: e, images: images, defaults: defaults}
}

// Builtins are the functions that declare services.
func (d *Declarations) Builtins() map[string]eval.Function {
	return map[string]eval.Function{"docker_compose": d.dockerCompose, "dc_resource": d.dcResource}
}

// Secrets are the values of the projects' secrets.
func (d *Declarations) Secrets() []model.Secret {
	var out []model.Secret
	for _, p := range d.projects {
		out = append(out, p.loaded.Secrets...)
	}
	return out
}
