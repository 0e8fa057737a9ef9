package kubernetes

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// resourceOptions is one call of k8s_resource.
type resourceOptions struct {
	resource.Options
	site     fault.Site
	workload string
	newName  string
	// cluster is the name of the cluster that the call puts the resource into; empty leaves it.
	cluster string
	// placed is set if it names one. cluster is then empty for the session's own.
	placed        bool
	portForwards  portForwards
	podSelectors  podSelectors
	objects       value.Texts
	podReadiness  readiness
	selectorsOnly value.Bool
	policy        policy
}

func (d *Declarations) k8sResource(c *eval.Call) (starlark.Value, error) {
	o := &resourceOptions{site: c.Site(), policy: newPolicy()}
	var strategy string
	if err := c.Unpack("workload??", &o.workload, "new_name??", &o.newName, "port_forwards??", &o.portForwards,
		"extra_pod_selectors??", &o.podSelectors, "trigger_mode??", &o.TriggerMode, "resource_deps??", &o.Deps,
		"objects??", &o.objects, "auto_init??", &o.AutoInit, "pod_readiness??", &o.podReadiness, "links??", &o.Links,
		"labels??", &o.Labels, "discovery_strategy??", &strategy,
		"adopt??", &o.policy.adopt, "read_only??", &o.policy.readOnly, "shared??", &o.policy.shared, "on_remove??", &o.policy.onRemove, "ignore??", &o.policy.ignore,
		"apply??", &o.policy.apply, "keep??", &o.policy.keep, "cluster??", &o.cluster); err != nil {
		return nil, err
	}
	if o.policy.keep.Value && o.policy.apply.value == model.ApplyOnce {
		return nil, errors.New("keep=True and apply=\"once\" contradict each other")
	}
	switch strategy {
	case "":
	case "default", "selectors-only":
		o.selectorsOnly = value.Bool{Value: strategy == "selectors-only", IsSet: true}
	default:
		return nil, fmt.Errorf("discovery_strategy: %q is neither \"default\" nor \"selectors-only\"", strategy)
	}
	switch {
	case o.workload == "" && len(o.objects.Values) == 0:
		return nil, errors.New("name a workload, or give new_name= and objects= to group other objects")
	case o.workload == "" && o.newName == "":
		return nil, errors.New("a group of objects without a workload needs a new_name=")
	}
	if err := resource.CheckName(o.newName); o.newName != "" && err != nil {
		return nil, fmt.Errorf("new_name: %w", err)
	}
	d.options = append(d.options, o)
	return nil, nil
}

// podSelectors takes a dict of labels or a list of these.
type podSelectors struct{ list []map[string]string }

// Unpack implements starlark.Unpacker.
func (p *podSelectors) Unpack(v starlark.Value) error {
	for _, e := range value.OneOrMany(v) {
		var m value.TextMap
		if err := m.Unpack(e); err != nil {
			return fmt.Errorf("%w: a selector is a dict of labels", err)
		}
		if len(m.Values) > 0 {
			p.list = append(p.list, m.Values)
		}
	}
	return nil
}

// readiness takes the value of pod_readiness=.
type readiness struct{ value model.PodReadiness }

// Unpack implements starlark.Unpacker.
func (r *readiness) Unpack(v starlark.Value) error {
	t, _ := starlark.AsString(v)
	switch r.value = model.PodReadiness(t); r.value {
	case "", model.PodWait, model.PodIgnore, model.PodSucceeded:
		return nil
	}
	return fmt.Errorf("got %s, want \"wait\", \"ignore\" or \"succeeded\"", v)
}
