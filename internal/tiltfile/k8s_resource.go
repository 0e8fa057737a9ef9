package tiltfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/pkg/model"
)

// common are the options that resources of every kind have.
type common struct {
	triggerMode triggerMode
	deps        textList
	autoInit    optBool
	links       links
	labels      labelList
}

// resourceOptions is one call of k8s_resource.
type resourceOptions struct {
	common
	site          site
	workload      string
	newName       string
	portForwards  portForwards
	podSelectors  podSelectors
	objects       textList
	podReadiness  readiness
	selectorsOnly optBool
}

func k8sResourceBuiltin(c *call) (starlark.Value, error) {
	o := &resourceOptions{site: c.site()}
	var strategy string
	if err := c.unpack("workload??", &o.workload, "new_name??", &o.newName, "port_forwards??", &o.portForwards,
		"extra_pod_selectors??", &o.podSelectors, "trigger_mode??", &o.triggerMode, "resource_deps??", &o.deps,
		"objects??", &o.objects, "auto_init??", &o.autoInit, "pod_readiness??", &o.podReadiness, "links??", &o.links,
		"labels??", &o.labels, "discovery_strategy??", &strategy); err != nil {
		return nil, err
	}
	switch strategy {
	case "":
	case "default", "selectors-only":
		o.selectorsOnly = optBool{strategy == "selectors-only", true}
	default:
		return nil, fmt.Errorf("discovery_strategy: %q is neither \"default\" nor \"selectors-only\"", strategy)
	}
	switch {
	case o.workload == "" && len(o.objects.values) == 0:
		return nil, errors.New("name a workload, or give new_name= and objects= to group other objects")
	case o.workload == "" && o.newName == "":
		return nil, errors.New("a group of objects without a workload needs a new_name=")
	}
	if err := checkName(o.newName); o.newName != "" && err != nil {
		return nil, fmt.Errorf("new_name: %w", err)
	}
	c.options = append(c.options, o)
	return nil, nil
}

// checkName refuses names that a resource must not have.
func checkName(name string) error {
	switch model.ManifestName(name) {
	case "":
		return errors.New("the name of the resource is empty")
	case model.TiltfileName, model.UncategorizedName:
		return fmt.Errorf("%q is reserved; choose another name", name)
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%q holds line breaks or other control characters, which no name of a resource may", name)
	}
	return nil
}

// podSelectors takes a dict of labels or a list of those.
type podSelectors struct{ list []map[string]string }

// Unpack implements starlark.Unpacker.
func (p *podSelectors) Unpack(v starlark.Value) error {
	for _, e := range oneOrMany(v) {
		var m textMap
		if err := m.Unpack(e); err != nil {
			return fmt.Errorf("%w: a selector is a dict of labels", err)
		}
		if len(m.values) > 0 {
			p.list = append(p.list, m.values)
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

// labelList takes a label or a list of labels, under which the resource is grouped.
type labelList struct{ values []string }

var labelPattern = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// Unpack implements starlark.Unpacker.
func (l *labelList) Unpack(v starlark.Value) error {
	var t textList
	if err := t.Unpack(v); err != nil {
		return err
	}
	for _, label := range t.values {
		if !labelPattern.MatchString(label) {
			return fmt.Errorf("%q is not a label: up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends", label)
		}
	}
	l.values = t.values
	return nil
}

// triggerMode is TRIGGER_MODE_AUTO or TRIGGER_MODE_MANUAL, or neither.
type triggerMode struct {
	mode  model.TriggerMode
	isSet bool
}

var _ starlark.Value = triggerMode{}

// Unpack implements starlark.Unpacker.
func (m *triggerMode) Unpack(v starlark.Value) error {
	t, ok := v.(triggerMode)
	if !ok {
		return fmt.Errorf("got %s, want TRIGGER_MODE_AUTO or TRIGGER_MODE_MANUAL", v.Type())
	}
	*m = t
	return nil
}

// String returns the constant's name.
func (m triggerMode) String() string {
	if m.mode == model.TriggerManual {
		return "TRIGGER_MODE_MANUAL"
	}
	return "TRIGGER_MODE_AUTO"
}

// Type implements starlark.Value.
func (m triggerMode) Type() string { return "trigger_mode" }

// Freeze implements starlark.Value.
func (m triggerMode) Freeze() {}

// Truth implements starlark.Value.
func (m triggerMode) Truth() starlark.Bool { return true }

// Hash implements starlark.Value.
func (m triggerMode) Hash() (uint32, error) { return uint32(m.mode), nil }

func triggerModeBuiltin(c *call) (starlark.Value, error) {
	var mode triggerMode
	if err := c.unpack("trigger_mode", &mode); err != nil {
		return nil, err
	}
	if c.triggerSet {
		return nil, errors.New("the default is already set; it can be set once")
	}
	c.triggerMode, c.triggerSet = mode.mode, true
	return nil, nil
}
