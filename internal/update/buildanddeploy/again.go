package buildanddeploy

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// again returns the reasons for which unchanged objects are applied, as deploy.ApplyRequest has them; nil if there is none.
func (r Request) again() func(*unstructured.Unstructured) string {
	if !r.Force && len(r.Overlaid) == 0 {
		return nil
	}
	return func(u *unstructured.Unstructured) string {
		switch {
		case slices.ContainsFunc(r.Overlaid, func(c model.ContainerRef) bool { return deploy.Runs(u, c) }):
			return "its containers have files that its image does not have"
		case r.Force:
			return "nothing in its pods has changed"
		}
		return ""
	}
}

// overlay notes containers that an update in place has reached, and has not brought up to date.
func (r *Request) overlay(touched []string) {
	for _, c := range r.Containers {
		known := slices.ContainsFunc(r.Overlaid, func(o model.ContainerRef) bool { return o.ID == c.ID })
		if !known && slices.Contains(touched, c.ID) {
			r.Overlaid = append(slices.Clip(r.Overlaid), c.ContainerRef)
		}
	}
}
