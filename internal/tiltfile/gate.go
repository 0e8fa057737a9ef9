package tiltfile

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// gate keeps a Tiltfile from acting on a cluster that nobody said it may.
type gate struct {
	contexts map[string]bool
	asked    bool
	cluster  model.Cluster
	err      error
}

// cluster returns the cluster, which is asked for once.
func (s *state) cluster() (model.Cluster, error) {
	if !s.gate.asked && s.opts.Cluster != nil {
		s.gate.cluster, s.gate.err = s.opts.Cluster()
	}
	s.gate.asked = true
	return s.gate.cluster, s.gate.err
}

// allowed refuses what the Tiltfile wants to do while the kube context is neither a development cluster nor allowed by
// name. Without any kubeconfig there is nothing to protect.
func (s *state) allowed(what string) error {
	cl, err := s.cluster()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	if cl.Context == "" || cl.Product.Dev() || s.gate.contexts[cl.Context] {
		return nil
	}
	return problem.New(
		fmt.Sprintf("refused to %s: kube context %q may be a production cluster", what, cl.Context),
		fmt.Sprintf("if it is for development, put this at the top of the Tiltfile:\n  allow_k8s_contexts(%q)\nelse switch: kubectl config use-context NAME", cl.Context))
}

func allowContextsBuiltin(c *call) (starlark.Value, error) {
	var contexts textList
	if err := c.unpack("contexts", &contexts); err != nil {
		return nil, err
	}
	if c.gate.contexts == nil {
		c.gate.contexts = map[string]bool{}
	}
	for _, name := range contexts.values {
		if name == "" {
			return nil, errors.New("the name of a context is empty")
		}
		c.gate.contexts[name] = true
	}
	return nil, nil
}

func contextBuiltin(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	cl, err := c.cluster()
	return starlark.String(cl.Context), err
}

func namespaceBuiltin(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	if c.opts.Namespace != "" {
		return starlark.String(c.opts.Namespace), nil
	}
	cl, err := c.cluster()
	if cl.Namespace == "" {
		cl.Namespace = "default"
	}
	return starlark.String(cl.Namespace), err
}
