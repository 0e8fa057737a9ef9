package tiltfile

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// localDeclarations are what the Tiltfile says about commands on this machine. They are used by one goroutine.
type localDeclarations struct {
	*eval.Evaluation
	gate     *gate
	defaults *resourceDefaults
	locals   []*localResource
}

// newLocalDeclarations returns the declarations of an evaluation that has just begun. The gate decides whether commands may
// run during the evaluation.
func newLocalDeclarations(e *eval.Evaluation, g *gate, defaults *resourceDefaults) *localDeclarations {
	return &localDeclarations{Evaluation: e, gate: g, defaults: defaults}
}

// builtins are the functions that run commands, now or later.
func (d *localDeclarations) builtins() map[string]eval.Function {
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

// manifests returns the resources in the order of their calls. A name that another resource has is a fault; sites are
// those of the other resources by name, and get those of the new ones.
func (d *localDeclarations) manifests(sites map[model.ManifestName]fault.Site) ([]model.Manifest, error) {
	var all fault.List
	var out []model.Manifest
	for _, l := range d.locals {
		name := model.ManifestName(l.name)
		if at, taken := sites[name]; taken {
			all.Add(d.ErrorAt(l.site, "%s: there is already a resource called %q, declared at %s", l.builtin, l.name, at))
			continue
		}
		sites[name] = l.site
		out = append(out, d.manifest(l))
	}
	return out, all.Err()
}
