package v1alpha1

import (
	"maps"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// Declarations are the program's declarations through v1alpha1 so far, in the order of the calls. They are used by
// one goroutine. Extension repos and extensions also go to the registry while the program runs: a declaration applies
// to later loads.
type Declarations struct {
	*eval.Evaluation
	registry extensionRegistry
	// Beside are the resources that exist in addition to the Tiltfile's own.
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

// extensionRegistry receives the declared repositories and extensions.
type extensionRegistry interface {
	AddRepo(extension.Repo) error
	AddExtension(extension.Extension) error
}

// New returns the empty declarations of an evaluation.
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

// Know copies the sites of another evaluation's objects, so that none is declared twice.
func (d *Declarations) Know(other *Declarations) { d.sites = maps.Clone(other.sites) }

// ExtensionSite returns the place where an extension was declared.
func (d *Declarations) ExtensionSite(name string) fault.Site {
	return d.sites[apiID{kindExtension, name}]
}
