package opened

import (
	"cmp"
	"context"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/pkg/model"
)

// In returns the part of the project in a cluster that the Tiltfile declares, with a connection and a ledger of its own. Its commands find
// the cluster as the current one. It is closed with the project.
func (p *Project) In(d model.ClusterDeclaration) (*Project, error) {
	if d.Own || d.Context == p.Known.Context {
		return p, nil
	}
	kc, err := p.Kubeconfig.In(d.Context, d.Namespace)
	if err != nil {
		return nil, err
	}
	c := *p
	c.Kubeconfig, c.Known, c.home, c.held = kc, kc.Cluster(), p.Home(), p.held.part(d.Context)
	c.Namespace, c.title = c.Known.Namespace, d.Name
	overlay, err := command.Overlay(kc, p.Path)
	if overlay != "" {
		c.Env = append(slices.Clone(p.Env), "KUBECONFIG="+overlay)
	}
	return &c, err
}

// Name returns the name of the cluster: the declared one, or the context.
func (p *Project) Name() string { return cmp.Or(p.title, p.Known.Context) }

// Home returns the context of the session's own cluster, also for a part in another one.
func (p *Project) Home() string { return cmp.Or(p.home, p.Known.Context) }

// On returns the cluster of the project as model.K8sTarget names it.
func (p *Project) On() string {
	if p.home == "" {
		return ""
	}
	return p.Known.Context
}

// Beside returns the parts of the project in other clusters than its own: those that the Tiltfile declares, in its order, and then those
// that it has declared earlier, as far as the kubeconfig still has them.
func (p *Project) Beside(tf model.Tiltfile) (declared, former []*Project, err error) {
	for _, d := range tf.Clusters {
		if d.Own {
			continue
		}
		part, err := p.In(d)
		if err != nil {
			return nil, nil, err
		}
		declared = append(declared, part)
	}
	contexts, err := command.Projects().Clusters(p.Path, p.Home())
	if err != nil {
		return nil, nil, err
	}
	for _, on := range contexts {
		if slices.ContainsFunc(declared, func(o *Project) bool { return o.On() == on }) {
			continue
		}
		if part, err := p.In(model.ClusterDeclaration{Context: on}); err == nil && part != p {
			former = append(former, part)
		}
	}
	return declared, former, nil
}

// LeaveOut says that a command goes on without the cluster of a part, and why.
func (p *Project) LeaveOut(why error) {
	logstore.Warnf(p.log, "What the project has in %s is left out: %s", p.Title(), problem.Text(why))
}

// Forget drops the record that the project has worked in the cluster of a part, where nothing of it is left.
func (p *Project) Forget(ctx context.Context) error {
	return command.Projects().ForgetBeside(ctx, p.Path, p.home, p.Known.Context)
}

// part returns the part that In shares for a context.
func (h *held) part(context string) *held {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.parts[context] == nil {
		if h.parts == nil {
			h.parts = map[string]*held{}
		}
		h.parts[context] = newHeld()
	}
	return h.parts[context]
}
