package buildanddeploy

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
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

// removeToRepeat requests the deletion of objects that were applied before and would do nothing if they were applied again. The
// apply waits for the end of each if necessary.
func (c *Cluster) removeToRepeat(ctx context.Context, req Request, objects []*unstructured.Unstructured, before func(model.ObjectID) string) error {
	again := req.again()
	if again == nil {
		return nil
	}
	del := deploy.DeleteRequest{Project: c.project, KeepNamespaces: true, KeepVolumes: true, KeepDefinitions: true, KeepAdopted: true,
		Timeout: req.UpsertTimeout, Logger: req.Log}
	for _, u := range objects {
		if id := deploy.IDOf(u); deploy.RunsByReplacement(id) && before(id) != "" && again(u) != "" {
			logstore.Infof(req.Log, "Deleting %s: only a new one runs again", id)
			del.Objects = append(del.Objects, deploy.ObjectRef{ObjectID: id})
		}
	}
	return c.applier.Delete(ctx, del)
}
