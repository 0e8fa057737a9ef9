// Package local implements the builtins for commands on this machine: local(), local_resource(), probes.
package local

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/pkg/model"
)

// Declarations are the Tiltfile's declarations of commands on this machine. They are used by one goroutine.
type Declarations struct {
	*eval.Evaluation
	gate     *kubecontext.Gate
	defaults *resource.Defaults
	locals   []*localResource
}

// New returns the empty declarations of an evaluation. The gate decides whether commands may run during the evaluation.
func New(e *eval.Evaluation, g *kubecontext.Gate, defaults *resource.Defaults) *Declarations {
	return &Declarations{Evaluation: e, gate: g, defaults: defaults}
}

// Builtins are the functions that run commands, now or later.
func (d *Declarations) Builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"local":             d.local,
		"local_resource":    d.localResource,
		"test":              d.test,
		"probe":             newProbe,
		"exec_action":       newExecAction,
		"http_get_action":   newHTTPGetAction,
		"tcp_socket_action": newTCPSocketAction,
	}
}

// Names returns the names of the resources that are declared so far.
func (d *Declarations) Names() (names []string) {
	for _, l := range d.locals {
		names = append(names, l.name)
	}
	return names
}

// Manifests returns the resources in the order of their calls. A name that another resource has is an error. sites
// holds the sites of the other resources by name, and calls the calls that have shaped them; Manifests adds the sites
// and calls of the new ones.
func (d *Declarations) Manifests(sites map[model.ManifestName]fault.Site, calls map[model.ManifestName][]fault.Call) ([]model.Manifest, error) {
	var all fault.List
	var out []model.Manifest
	for _, l := range d.locals {
		name := model.ManifestName(l.name)
		if at, taken := sites[name]; taken {
			all.Add(d.ErrorAt(l.site, "%s: there is already a resource called %q, declared at %s", l.builtin, l.name, at))
			continue
		}
		sites[name] = l.site
		calls[name] = []fault.Call{{Name: l.builtin, Site: l.site}}
		m, err := d.manifest(l)
		all.Add(err)
		out = append(out, m)
	}
	return out, all.Err()
}
