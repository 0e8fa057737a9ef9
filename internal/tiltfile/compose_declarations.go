package tiltfile

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/pkg/model"
)

// composeDeclarations are what the Tiltfile says about Docker Compose. They are used by one goroutine.
type composeDeclarations struct {
	*eval.Evaluation
	images   *imageDeclarations
	defaults *resourceDefaults
	projects []*composeProject
	// options are the calls of dc_resource in order.
	options []*composeOptions
}

// newComposeDeclarations returns the declarations of an evaluation that has just begun. Services may run the given images.
func newComposeDeclarations(e *eval.Evaluation, images *imageDeclarations, defaults *resourceDefaults) *composeDeclarations {
	return &composeDeclarations{Evaluation: e, images: images, defaults: defaults}
}

// builtins are the functions that declare services.
func (d *composeDeclarations) builtins() map[string]eval.Function {
	return map[string]eval.Function{"docker_compose": d.dockerCompose, "dc_resource": d.dcResource}
}

// secrets are the values of the projects' secrets.
func (d *composeDeclarations) secrets() []model.Secret {
	var out []model.Secret
	for _, p := range d.projects {
		out = append(out, p.loaded.Secrets...)
	}
	return out
}
