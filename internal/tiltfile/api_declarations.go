package tiltfile

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// apiDeclarations are what the program declared through v1alpha1 so far, in the order of the calls. They are used by one
// goroutine. Extension repos and extensions also go to the registry while the program runs: a declaration holds for what is
// loaded after it.
type apiDeclarations struct {
	*eval.Evaluation
	registry extensionRegistry
	// beside are resources that there are besides those of the Tiltfile.
	beside         []model.ManifestName
	sites          map[apiID]fault.Site
	buttons        []model.Button
	commands       []model.Command
	configMaps     []model.ConfigMap
	fileWatches    []model.FileWatch
	extensionRepos []model.ExtensionRepo
	extensions     []model.Extension
	kept           []model.KeptObject
}

// extensionRegistry learns which extensions there are.
type extensionRegistry interface {
	AddRepo(extension.Repo) error
	AddExtension(extension.Extension) error
}

// newAPIDeclarations returns the declarations of an evaluation that has just begun.
func newAPIDeclarations(e *eval.Evaluation, r extensionRegistry) *apiDeclarations {
	return &apiDeclarations{Evaluation: e, registry: r}
}

// builtins are the functions of the module v1alpha1.
func (d *apiDeclarations) builtins() map[string]eval.Function {
	out := map[string]eval.Function{}
	for name, t := range apiTypes {
		out[apiModule+name] = d.constructor(t)
	}
	return out
}
