package buildanddeploy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// replacementPause is the time between two looks at the replacements of a workload. The cluster takes longer to start a pod.
const replacementPause = 200 * time.Millisecond

// awaitReplacements waits, before a resource that the Tiltfile no longer declares is removed, until the workloads that take the place
// of its own are deployed and ready. A replacement is a workload of another resource that is new, in the same namespace, and runs the
// same image, or is selected by a Service that selected the old one. A workload whose readiness does not matter
// (pod_readiness='ignore') is none. The wait ends when no replacement is declared.
func (c *Cluster) awaitReplacements(ctx context.Context, memory *deploy.Memory, req RemoveRequest) error {
	next, err := c.replacements(ctx, memory, req)
	if err != nil {
		return err
	}
	for said := ""; len(next) > 0; {
		why, err := c.waitsFor(ctx, memory, next)
		switch {
		case err != nil:
			return err
		case why == "":
			return nil
		case said == "":
			logstore.Infof(req.Log, "The objects of %s, %s, are deleted when their replacements are ready: %s", req.Resource, req.Why, why)
			said = why
		}
		if !retry.Sleep(ctx, replacementPause) {
			return context.Cause(ctx)
		}
		if req.Enough != nil && req.Enough.Err() != nil {
			return fmt.Errorf("%s is declared again", req.Resource)
		}
		next = slices.DeleteFunc(next, func(s replacement) bool { return !declares(req.Declared(), s) })
	}
	return nil
}

// replacement is a workload that takes the place of another.
type replacement struct {
	resource model.ManifestName
	id       model.ObjectID
}

// replacements returns the workloads that take the place of the workloads of a resource that is no longer declared, and that have
// not been ready yet.
func (c *Cluster) replacements(ctx context.Context, memory *deploy.Memory, req RemoveRequest) ([]replacement, error) {
	if !req.Undeclared || req.Declared == nil {
		return nil, nil
	}
	all, err := memory.Resources()
	if err != nil {
		return nil, err
	}
	var old []*unstructured.Unstructured
	for _, r := range all[req.Resource] {
		if u := memory.Remembered(r.ObjectID); u != nil && r.Stays() && r.ObjectID.Serves() {
			old = append(old, u)
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	deployed, fresh := map[model.ObjectID]bool{}, map[model.ObjectID]bool{}
	for _, list := range all {
		for _, r := range list {
			deployed[r.ObjectID], fresh[r.ObjectID] = r.UID != "", r.Fresh
		}
	}
	declared := req.Declared()
	services := c.reselected(ctx, memory, declared, req.Namespace)
	var out []replacement
	for _, m := range declared {
		if m.K8s == nil || m.CustomDeploy() != nil || m.K8s.PodReadiness == model.PodIgnore {
			continue // nothing shows when it serves
		}
		if m.Name == req.Resource || !m.AutoInit {
			continue
		}
		for i, r := range c.Objects(ctx, m, req.Namespace) {
			if !r.ObjectID.Serves() || deployed[r.ObjectID] && !fresh[r.ObjectID] {
				continue
			}
			u := decoded(m.K8s.Objects[i], r.ObjectID)
			if u == nil || !slices.ContainsFunc(old, func(was *unstructured.Unstructured) bool { return succeeds(u, was, services) }) {
				continue
			}
			if deployed[r.ObjectID] { // a moment ago, or by a session that ended before it was ready
				ready, err := c.applier.Established(ctx, r.ObjectID, model.DefaultUpdateSettings.UpsertTimeout)
				if err != nil {
					return nil, err
				}
				if ready {
					continue
				}
			}
			out = append(out, replacement{m.Name, r.ObjectID})
		}
	}
	return out, nil
}

// reselection is the namespace of a Service, with its selectors as they were applied last, and as they are declared.
type reselection struct {
	namespace string
	was, is   map[string]string
}

// reselected returns the declared Services that were applied before.
func (c *Cluster) reselected(ctx context.Context, memory *deploy.Memory, declared []model.Manifest, namespace string) []reselection {
	var out []reselection
	for _, m := range declared {
		if m.K8s == nil {
			continue
		}
		for i, o := range m.K8s.Objects {
			if o.Kind != "Service" || o.Group() != "" {
				continue
			}
			id := c.Objects(ctx, m, namespace)[i].ObjectID
			was, is := memory.Remembered(id), decoded(o, id)
			if was != nil && is != nil {
				out = append(out, reselection{id.Namespace, deploy.Selector(was), deploy.Selector(is)})
			}
		}
	}
	return out
}

// succeeds reports whether a workload takes the place of another.
func succeeds(is, was *unstructured.Unstructured, services []reselection) bool {
	if is.GetNamespace() != was.GetNamespace() {
		return false
	}
	for _, s := range services {
		if s.namespace == was.GetNamespace() && deploy.Selects(s.was, was) && deploy.Selects(s.is, is) {
			return true
		}
	}
	before := deploy.ImageNames(was)
	return slices.ContainsFunc(deploy.ImageNames(is), func(name string) bool { return slices.Contains(before, name) })
}

// decoded returns a declared object under its full identity; nil if it cannot be read.
func decoded(o model.K8sObject, id model.ObjectID) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if json.Unmarshal([]byte(o.JSON), &u.Object) != nil {
		return nil
	}
	u.SetNamespace(id.Namespace)
	return u
}

// waitsFor returns why replacements are not ready. It is empty once the resources of all have been deployed and they are ready.
func (c *Cluster) waitsFor(ctx context.Context, memory *deploy.Memory, next []replacement) (string, error) {
	all, err := memory.Resources()
	if err != nil {
		return "", err
	}
	var undeployed []string
	var deployed []model.ObjectID
	for _, s := range next {
		if slices.ContainsFunc(all[s.resource], func(r ledger.Record) bool { return r.ObjectID == s.id && r.UID != "" }) {
			deployed = append(deployed, s.id)
		} else {
			undeployed = append(undeployed, string(s.resource)+" is not deployed yet")
		}
	}
	if len(undeployed) > 0 {
		return strings.Join(slices.Compact(slices.Sorted(slices.Values(undeployed))), ", "), nil
	}
	why, _, err := c.applier.Unready(ctx, deployed, model.DefaultUpdateSettings.UpsertTimeout)
	if err != nil || why != "" {
		return why, err
	}
	ready := map[model.ManifestName][]model.ObjectID{}
	for _, s := range next {
		ready[s.resource] = append(ready[s.resource], s.id)
	}
	for _, resource := range slices.Sorted(maps.Keys(ready)) {
		if err := memory.SeenReady(resource, ready[resource]); err != nil {
			return "", err
		}
	}
	return "", nil
}

// declares reports whether a replacement's resource is still declared.
func declares(declared []model.Manifest, s replacement) bool {
	return slices.ContainsFunc(declared, func(m model.Manifest) bool { return m.Name == s.resource && m.K8s != nil })
}

// awaitOwn waits, before the objects are deleted that a resource has left behind, until the workloads that it has now are ready.
// Objects that are being deleted already need no such wait.
func (c *Cluster) awaitOwn(ctx context.Context, memory *deploy.Memory, resource model.ManifestName) error {
	for {
		all, err := memory.Resources()
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(leaving(all[resource]), func(r ledger.Record) bool { return !r.ObjectID.Serves() })
		standing, err := c.applier.Standing(ctx, left, model.DefaultUpdateSettings.UpsertTimeout)
		if err != nil || !standing {
			return err
		}
		var now []model.ObjectID
		for _, r := range all[resource] {
			if !r.Leaving && !r.Foreign && r.ObjectID.Serves() {
				now = append(now, r.ObjectID)
			}
		}
		why, _, err := c.applier.Unready(ctx, now, model.DefaultUpdateSettings.UpsertTimeout)
		if err != nil || why == "" {
			return err
		}
		if !retry.Sleep(ctx, replacementPause) {
			return context.Cause(ctx)
		}
	}
}
