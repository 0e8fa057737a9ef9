package v1alpha1

import (
	"maps"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// Declarations are what the program declared through v1alpha1 so far, in the order of the calls. They are used by one
// goroutine. Extension repos and extensions also go to the registry while the program runs: a declaration holds for what is
// loaded after it.
type Declarations struct {
	*eval.Evaluation
	registry extensionRegistry
	// Beside are resources that there are besides those of the Tiltfile.
	Beside         []model.ManifestName
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

// New returns the declarations of an evaluation that has just begun.
func New(e *eval.Evaluation, r extensionRegistry) *Declarations {
	return &Declarations{Evaluation: e, registry: r}
}

// Builtins are the functions of the module v1alpha1.
func (d *Declarations) Builtins() map[string]eval.Function {
	out := map[string]eval.Function{}
	for name, t := range apiTypes {
		out[apiModule+name] = d.constructor(t)
	}
	return out
}

// Know takes over where the objects of another evaluation were declared, so that none is declared twice.
func (d *Declarations) Know(other *Declarations) { d.sites = maps.Clone(other.sites) }

// ExtensionSite is where an extension was declared.
func (d *Declarations) ExtensionSite(name string) fault.Site {
	return d.sites[apiID{kindExtension, name}]
}
