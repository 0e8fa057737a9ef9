// Package kubecontext knows the clusters of a Tiltfile, and restricts those that it may act on: cluster(), k8s_context(),
// allow_k8s_contexts(), k8s_namespace().
package kubecontext

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// Gate keeps a Tiltfile from acting on a cluster that the user has not allowed. It is used by one goroutine.
type Gate struct {
	ask       func() (model.Cluster, error)
	namespace string
	contexts  map[string]bool
	asked     bool
	answer    model.Cluster
	err       error
	find      Find
	declared  []*Declared
}

// NewGate returns a gate that gets the cluster from ask, which is called at most once, and only when the cluster is
// needed; nil means that there is none. k8s_namespace() returns namespace unless it is empty. Other clusters come from find; nil means
// that there is no kubeconfig.
func NewGate(ask func() (model.Cluster, error), find Find, namespace string) *Gate {
	return &Gate{ask: ask, find: find, namespace: namespace}
}

// Clone returns a gate that allows the same contexts and knows the same clusters. Later permissions and declarations of one do not concern
// the other.
func (g *Gate) Clone() *Gate {
	c := *g
	c.contexts = maps.Clone(g.contexts)
	return &c
}

// Builtins are the functions that concern the kube context.
func (g *Gate) Builtins() map[string]eval.Function {
	return map[string]eval.Function{"allow_k8s_contexts": g.allowContexts, "k8s_context": g.k8sContext, "k8s_namespace": g.k8sNamespace,
		"cluster": g.declare}
}

// cluster returns the cluster, which it requests once.
func (g *Gate) cluster() (model.Cluster, error) {
	if !g.asked && g.ask != nil {
		g.answer, g.err = g.ask()
	}
	g.asked = true
	return g.answer, g.err
}

// Allowed returns an error for an act of the Tiltfile in a cluster if its context is neither a development cluster nor allowed
// by name. Without a kubeconfig there is nothing to protect.
func (g *Gate) Allowed(what string, in *Declared) error {
	cl, err := g.clusterOf(in)
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	if cl.Context == "" || cl.Product.Dev() || g.contexts[cl.Context] {
		return nil
	}
	otherwise := "\nelse switch: kubectl config use-context NAME"
	if in != nil && !in.Own {
		otherwise = fmt.Sprintf("\nelse declare another context: cluster(%q, context=…)", in.Name)
	}
	return Refused{problem.New(
		fmt.Sprintf("refused to %s: kube context %q may be a production cluster", what, cl.Context),
		fmt.Sprintf("if it is for development, put this at the top of the Tiltfile:\n  allow_k8s_contexts(%q)", cl.Context)+otherwise).See("clusters")}
}

// clusterOf returns a cluster as the kubeconfig describes it.
func (g *Gate) clusterOf(in *Declared) (model.Cluster, error) {
	if in == nil || in.Own {
		return g.cluster()
	}
	return in.way.Cluster, nil
}

// Refused is the error for an act in a cluster that is not allowed.
type Refused struct{ *problem.Problem }

// Unwrap returns the problem.
func (r Refused) Unwrap() error { return r.Problem }

func (g *Gate) allowContexts(c *eval.Call) (starlark.Value, error) {
	var contexts value.Texts
	if err := c.Unpack("contexts", &contexts); err != nil {
		return nil, err
	}
	if g.contexts == nil {
		g.contexts = map[string]bool{}
	}
	for _, name := range contexts.Values {
		if name == "" {
			return nil, errors.New("the name of a context is empty")
		}
		g.contexts[name] = true
	}
	return nil, nil
}

func (g *Gate) k8sContext(c *eval.Call) (starlark.Value, error) {
	var name string
	if err := c.Unpack("cluster??", &name); err != nil {
		return nil, err
	}
	in, err := g.Already(name)
	if err != nil {
		return nil, err
	}
	cl, err := g.clusterOf(in)
	return starlark.String(cl.Context), err
}

func (g *Gate) k8sNamespace(c *eval.Call) (starlark.Value, error) {
	var name string
	if err := c.Unpack("cluster??", &name); err != nil {
		return nil, err
	}
	in, err := g.Already(name)
	if err != nil {
		return nil, err
	}
	if in != nil {
		return starlark.String(in.Namespace), nil
	}
	namespace, err := g.OwnNamespace()
	return starlark.String(namespace), err
}

// OwnNamespace returns the namespace of the session.
func (g *Gate) OwnNamespace() (string, error) {
	if g.namespace != "" {
		return g.namespace, nil
	}
	cl, err := g.cluster()
	return cmp.Or(cl.Namespace, "default"), err
}
