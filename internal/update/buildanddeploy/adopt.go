package buildanddeploy

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// DeclaredObjects returns the objects that resources declare, as records of them would name them.
func (c *Cluster) DeclaredObjects(ctx context.Context, manifests []model.Manifest, namespace string) (out []deploy.Recorded) {
	scopes := c.scopes(ctx)
	for _, m := range manifests {
		if m.K8s == nil || m.CustomDeploy() != nil {
			continue
		}
		for _, r := range c.objects(m, namespace, scopes) {
			out = append(out, deploy.Recorded{Kind: r.Kind, Name: r.Name, Namespace: r.Namespace, Group: r.Group, Resource: m.Name})
		}
	}
	return out
}

// Adoptions are declared objects that are taken over as they are, by resource.
type Adoptions map[model.ManifestName][]*deploy.Adoption

// Steps returns the adoptions as the steps of a plan.
func (a Adoptions) Steps() (steps []api.PlanStep) {
	for _, list := range a {
		for _, d := range list {
			steps = append(steps, d.Step)
		}
	}
	slices.SortFunc(steps, func(a, b api.PlanStep) int { return idOf(a.Object).Compare(idOf(b.Object)) })
	return steps
}

func idOf(o api.PlanObject) model.ObjectID {
	return model.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Adopting looks at declared objects, of those that DeclaredObjects returns. If one of them cannot be taken over, it returns the reasons.
func (c *Cluster) Adopting(ctx context.Context, manifests []model.Manifest, chosen []deploy.Recorded, namespace string) (Adoptions, error) {
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	all := Adoptions{}
	var failed []error
	for _, m := range manifests {
		declared, err := c.chosenObjects(ctx, memory, m, chosen, namespace)
		if err != nil {
			return nil, err
		}
		for _, u := range declared {
			d, err := c.applier.NewAdoption(ctx, m.Name, u)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			all[m.Name] = append(all[m.Name], d)
		}
	}
	return all, errors.Join(failed...)
}

// chosenObjects returns the chosen objects of a resource with the project's marks. Their images are not built.
func (c *Cluster) chosenObjects(ctx context.Context, memory *deploy.Memory, m model.Manifest, chosen []deploy.Recorded, namespace string) (out []*unstructured.Unstructured, err error) {
	if m.K8s == nil || !slices.ContainsFunc(chosen, func(r deploy.Recorded) bool { return r.Resource == m.Name }) {
		return nil, nil
	}
	target := model.K8sTarget{Objects: m.K8s.Objects}
	err = k8s.Persist(ctx, func() (err error) {
		out, err = deploy.Inject(deploy.InjectRequest{Resource: m.Name, Project: c.project, Holder: c.holder, ApplySet: memory.ApplySet(), Namespace: namespace, Target: target}, c.mapper)
		return err
	})
	return slices.DeleteFunc(out, func(u *unstructured.Unstructured) bool {
		return !slices.ContainsFunc(chosen, func(r deploy.Recorded) bool { return r.Resource == m.Name && r.ID() == deploy.IDOf(u) })
	}), err
}

// Adopt records objects and takes them over as they are.
func (c *Cluster) Adopt(ctx context.Context, all Adoptions, log logstore.Logger) error {
	ctx, done, err := c.hold(patiently(ctx, log), log)
	if err != nil {
		return err
	}
	defer done()
	memory, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	records := ledger.Records{}
	for name, list := range all {
		for _, d := range list {
			records[name] = append(records[name], ledger.Of([]model.AppliedObject{d.Object})...)
		}
	}
	if err := memory.RecordAll(records); err != nil {
		return err
	}
	var failed []error
	for name, list := range all {
		end := memory.Update(name)
		var own []error
		for _, d := range list {
			own = append(own, memory.Written(d.Object.ObjectID), c.applier.Adopt(ctx, memory, d, log))
		}
		err := errors.Join(own...)
		end(ledger.Outcome{Failed: err != nil, Cancelled: ctx.Err() != nil})
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
