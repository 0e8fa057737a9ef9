package kubernetes

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/jsonpath"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/pkg/model"
)

// newFieldRef implements ref().
func newFieldRef(c *eval.Call) (starlark.Value, error) {
	var object, path string
	if err := c.Unpack("object", &object, "path", &path); err != nil {
		return nil, err
	}
	r, err := model.ParseFieldRef(object, path)
	if err != nil {
		return nil, err
	}
	if _, err := jsonpath.Parse(r.JSONPath()); err != nil {
		return nil, err
	}
	return starlark.String(r.Token()), nil
}

// referred returns the names of the other resources to whose objects the objects of a resource refer. They must be deployed first.
func (a *assembly) referred(name string, objects []*k8sobject.Object) ([]string, error) {
	var out []string
	for _, o := range objects {
		refs, err := model.FieldRefs(o.JSON)
		if err != nil {
			return nil, a.ErrorAt(o.Site, "%s: %w", o.ID(), err)
		}
		for _, r := range refs {
			for _, other := range a.Declarations.Objects.List {
				owner := a.ownerOf(other)
				names := other.Cluster == o.Cluster && r.Names(other.ID(), o.Namespace)
				if names && owner != name && !slices.Contains(out, owner) {
					out = append(out, owner)
				}
			}
		}
	}
	return out, nil
}

// addReferred makes resources depend on the resources to whose objects they refer.
func (a *assembly) addReferred() error {
	for _, r := range a.resources {
		names, err := a.referred(r.name, r.objects)
		if err != nil {
			return err
		}
		for _, n := range names {
			if !slices.Contains(r.deps, n) {
				r.deps = append(r.deps, n)
			}
		}
	}
	rest := byCluster(a.rest)
	for _, cluster := range a.clusters() {
		var err error
		if a.restDeps[cluster], err = a.referred(uncategorizedIn(cluster), rest[cluster]); err != nil {
			return err
		}
	}
	return nil
}
