package opened

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/sessions"
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
	c.Kubeconfig, c.Known, c.home, c.homeNamespace, c.held = kc, kc.Cluster(), p.Home(), p.HomeNamespace(), p.held.part(d.Context)
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

// HomeNamespace returns the namespace in the session's own cluster, also for a part in another one.
func (p *Project) HomeNamespace() string { return cmp.Or(p.homeNamespace, p.Namespace) }

// On returns the cluster of the project as model.K8sTarget names it.
func (p *Project) On() string {
	if p.home == "" || p.alone {
		return ""
	}
	return p.Known.Context
}

// Alone returns the project for a session whose own cluster is the one of this part, and that works on no other.
func (p *Project) Alone() *Project {
	c := *p
	c.alone = true
	return &c
}

// IsAlone reports whether Alone has made the project.
func (p *Project) IsAlone() bool { return p.alone }

// Everywhere returns the parts of the project in all clusters that this machine knows of: its own one, and then those that the Tiltfile
// declares, or has declared. It does not evaluate the Tiltfile.
func (p *Project) Everywhere() ([]*Project, error) {
	_, others, err := p.Beside(model.Tiltfile{})
	return append([]*Project{p}, others...), err
}

// Chosen returns the parts of the project in the cluster that the flags choose, and otherwise all of Everywhere.
func (p *Project) Chosen() ([]*Project, error) {
	all, err := p.Everywhere()
	if err != nil || p.Flags.Cluster == "" {
		return all, err
	}
	ways := []func(*Project) bool{
		func(o *Project) bool { return o.Name() == p.Flags.Cluster },
		func(o *Project) bool { return o.Known.Context == p.Flags.Cluster },
		func(o *Project) bool { return p.remembered(o.Known.Context).Name == p.Flags.Cluster },
	}
	for _, is := range ways {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return all[i : i+1], nil
		}
	}
	return nil, problem.New(fmt.Sprintf("the project is in no cluster %q, as far as this machine knows", p.Flags.Cluster),
		suggest.Mend(p.Flags.Cluster, Names(all), "choose one of "+strings.Join(Names(all), ", ")+"; hone preview looks into all clusters of the Tiltfile")).See("clusters")
}

// Names returns the names of the clusters of parts.
func Names(parts []*Project) (names []string) {
	for _, part := range parts {
		names = append(names, part.Name())
	}
	return names
}

// remembered returns the cluster of a context as the Tiltfile declared it when a session last ran it; without a name if it did not.
func (p *Project) remembered(context string) sessions.Cluster {
	last, _ := flags.Remembered().Of(p.Path)
	for _, c := range last.Clusters {
		if c.Context == context {
			return c
		}
	}
	return sessions.Cluster{}
}

// formerly returns the declaration of a cluster that the Tiltfile does not declare, or that was not evaluated. Its name is left out if the
// Tiltfile gives it to another cluster.
func (p *Project) formerly(context string, tf model.Tiltfile) model.ClusterDeclaration {
	was := p.remembered(context)
	if slices.ContainsFunc(tf.Clusters, func(d model.ClusterDeclaration) bool { return d.Name == was.Name }) {
		was.Name = ""
	}
	return model.ClusterDeclaration{Name: was.Name, Context: context, Namespace: was.Namespace}
}

// Beside returns the parts of the project in other clusters than its own: those that the Tiltfile declares, in its order, and then those
// that it has declared earlier, as far as the kubeconfig still has them.
func (p *Project) Beside(tf model.Tiltfile) (declared, former []*Project, err error) {
	if p.alone {
		return nil, nil, nil
	}
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
		if part, err := p.In(p.formerly(on, tf)); err == nil && part != p {
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
