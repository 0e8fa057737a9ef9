// Package dockercompose implements the builtins for Docker Compose: docker_compose() and dc_resource(). It makes
// resources from the services.
package dockercompose

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/pkg/model"
)

// Declarations are the Tiltfile's declarations for Docker Compose. They are used by one goroutine.
type Declarations struct {
	*eval.Evaluation
	images   *image.Declarations
	defaults *resource.Defaults
	projects []*composeProject
	// options are the calls of dc_resource in order.
	options []*composeOptions
}

// New returns the empty declarations of an evaluation. Services may run the given images.
func New(e *eval.Evaluation, images *image.Declarations, defaults *resource.Defaults) *Declarations {
	return &Declarations{Evaluation: e, images: images, defaults: defaults}
}

// Builtins are the functions that declare services.
func (d *Declarations) Builtins() map[string]eval.Function {
	return map[string]eval.Function{"docker_compose": d.dockerCompose, "dc_resource": d.dcResource}
}

// Secrets returns the values of the projects' secrets.
func (d *Declarations) Secrets() []model.Secret {
	var out []model.Secret
	for _, p := range d.projects {
		out = append(out, p.loaded.Secrets...)
	}
	return out
}

// Names returns the names of the projects and of their services.
func (d *Declarations) Names() (names []string) {
	for _, p := range d.projects {
		names = append(names, p.Name)
		for _, service := range p.loaded.Services {
			names = append(names, service.Name)
		}
	}
	return names
}
