package kubecontext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// Way leads to a cluster of the kubeconfig.
type Way struct {
	// Cluster is the cluster as the kubeconfig describes it.
	Cluster model.Cluster
	// Kubeconfig is the KUBECONFIG of commands that work on this cluster, also after the user has chosen another context.
	Kubeconfig string
	// Capabilities asks the cluster for its version and its APIs.
	Capabilities func(context.Context) (model.Capabilities, error)
}

// Find finds the way to the cluster of a context. The namespace overrides the one of the context unless it is empty.
type Find func(context, namespace string) (Way, error)

// Declared is a cluster that the program has declared. Nil stands for the session's own cluster.
type Declared struct {
	model.ClusterDeclaration
	way    Way // of a cluster that is not the session's own
	site   fault.Site
	served *eval.Served
}

// declare implements cluster().
func (g *Gate) declare(c *eval.Call) (starlark.Value, error) {
	d := &Declared{site: c.Site()}
	if err := c.Unpack("name", &d.Name, "context??", &d.Context, "namespace??", &d.Namespace); err != nil {
		return nil, err
	}
	if err := checkName(d.Name); err != nil {
		return nil, err
	}
	d.Context = cmp.Or(d.Context, d.Name)
	for _, other := range g.declared {
		switch {
		case other.Name == d.Name:
			return nil, fmt.Errorf("name: there is already a cluster %q, declared at %s", d.Name, other.site)
		case other.Context == d.Context:
			return nil, fmt.Errorf("context: %q is already the cluster %q, declared at %s", d.Context, other.Name, other.site)
		}
	}
	own, err := g.cluster()
	if err != nil {
		return nil, err
	}
	if d.Own = own.Context == d.Context; d.Own {
		err = g.asOwn(d)
	} else {
		err = g.asOther(d)
	}
	if err != nil {
		return nil, err
	}
	g.declared = append(slices.Clip(g.declared), d) // clones have the list, too
	return nil, nil
}

// checkName refuses names that cannot be a part of the names of resources.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("name: the name of the cluster is empty")
	case strings.ContainsAny(name, "/%"), value.HasControls(name):
		return problem.New(fmt.Sprintf("name: %q: the name of a cluster must not contain / or %% or control characters", name),
			fmt.Sprintf("choose a short name:\n  cluster(\"dev\", context=%q)", name))
	}
	return nil
}

// asOwn completes the declaration of the session's own cluster, whose namespace the user chooses.
func (g *Gate) asOwn(d *Declared) error {
	namespace, err := g.OwnNamespace()
	if err != nil {
		return err
	}
	if d.Namespace != "" && d.Namespace != namespace {
		return problem.New(fmt.Sprintf("namespace: %q is the session's own cluster, and the session has the namespace %q", d.Name, namespace),
			fmt.Sprintf("choose the namespace of the session: hone --namespace %s, or kubectl config set-context --current --namespace %[1]s", d.Namespace))
	}
	d.Namespace = namespace
	return nil
}

// asOther completes the declaration of a cluster beside the session's own.
func (g *Gate) asOther(d *Declared) error {
	if g.find == nil {
		return problem.New(fmt.Sprintf("context: there is no kubeconfig, and so no context %q", d.Context),
			"set KUBECONFIG to a kubeconfig file that has it").See("clusters")
	}
	var err error
	if d.way, err = g.find(d.Context, d.Namespace); err != nil {
		return fmt.Errorf("context: %w", err)
	}
	d.Namespace = cmp.Or(d.way.Cluster.Namespace, "default")
	d.served = &eval.Served{Context: d.Context, Ask: d.way.Capabilities}
	return nil
}

// Clusters returns the clusters that are declared so far, in order.
func (g *Gate) Clusters() (out []model.ClusterDeclaration) {
	for _, d := range g.declared {
		out = append(out, d.ClusterDeclaration)
	}
	return out
}

// Take takes over the clusters that the program of another gate has declared, which began as a clone of this one.
func (g *Gate) Take(from *Gate) { g.declared = from.declared }

// Told returns the capabilities of clusters other than the session's own as the evaluation saw them, by their contexts.
func (g *Gate) Told() map[string]model.Capabilities {
	var out map[string]model.Capabilities
	for _, d := range g.declared {
		if d.served == nil || d.served.Told() == nil {
			continue
		}
		if out == nil {
			out = map[string]model.Capabilities{}
		}
		out[d.Context] = *d.served.Told()
	}
	return out
}

// Served finds the known capabilities of a cluster, by its name; for an empty name and the session's own cluster, own has it.
func (g *Gate) Served(name string, own *eval.Served) (*eval.Served, error) {
	d, err := g.Already(name)
	if err != nil || d == nil || d.Own {
		return own, err
	}
	return d.served, nil
}

// Named returns the cluster of a name once the program has run; nil for an empty name.
func (g *Gate) Named(name string) (*Declared, error) {
	return g.named(name, "there is no cluster %q%s", "declare it in the Tiltfile")
}

// Already is Named while the program runs. Its errors begin with "cluster:", the argument.
func (g *Gate) Already(name string) (*Declared, error) {
	return g.named(name, "cluster: there is no cluster %q yet%s", "declare it above this call")
}

func (g *Gate) named(name, unknown, mend string) (*Declared, error) {
	if name == "" {
		return nil, nil
	}
	if i := slices.IndexFunc(g.declared, func(d *Declared) bool { return d.Name == name }); i >= 0 {
		return g.declared[i], nil
	}
	var names []string
	for _, d := range g.declared {
		names = append(names, d.Name)
	}
	return nil, problem.New(fmt.Sprintf(unknown, name, hint.DidYouMean(name, names)),
		fmt.Sprintf("%s:\n  cluster(%q, context=…)", mend, name)).See("clusters")
}

// variable is the environment variable that chooses the cluster of commands.
const variable = "KUBECONFIG"

// Command returns a command so that it works on this cluster, whatever context the user chooses. Commands of the session's own cluster do so
// without an addition.
func (d *Declared) Command(cmd model.Cmd) (model.Cmd, error) {
	if cmd.Empty() || d == nil {
		return cmd, nil
	}
	if slices.ContainsFunc(cmd.Env, func(kv string) bool { return strings.HasPrefix(kv, variable+"=") }) {
		return cmd, fmt.Errorf("cluster: %q chooses the %s of the command, and so does its environment; give one of them", d.Name, variable)
	}
	if !d.Own {
		cmd.Env = append([]string{variable + "=" + d.way.Kubeconfig}, cmd.Env...)
	}
	return cmd, nil
}
