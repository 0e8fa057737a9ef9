// Package resource holds the properties that all kinds of resources share: names, labels, links, dependencies, trigger modes.
package resource

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// Defaults apply to resources that do not set their own values. They are used by one goroutine.
type Defaults struct {
	triggerMode model.TriggerMode
	// isSet is true once trigger_mode was called.
	isSet bool
}

// Builtins are the functions for resources of every kind.
func (d *Defaults) Builtins() map[string]eval.Function {
	return map[string]eval.Function{"trigger_mode": d.setTriggerMode, "link": newLinkValue}
}

// Constants are the trigger modes by their names.
func Constants() starlark.StringDict {
	return starlark.StringDict{
		"TRIGGER_MODE_AUTO":   TriggerMode{mode: model.TriggerAuto, IsSet: true},
		"TRIGGER_MODE_MANUAL": TriggerMode{mode: model.TriggerManual, IsSet: true},
	}
}

// Options are the options that resources of every kind have.
type Options struct {
	TriggerMode TriggerMode
	Deps        value.Texts
	AutoInit    value.Bool
	Links       links
	Labels      Labels
}

// CheckName refuses names that a resource must not have.
func CheckName(name string) error {
	n := model.ManifestName(name)
	switch {
	case name == "":
		return errors.New("the name of the resource is empty")
	case n == model.TiltfileName, n.Uncategorized():
		return fmt.Errorf("%q is reserved; choose another name", name)
	}
	if value.HasControls(name) {
		return fmt.Errorf("%q contains line breaks or other control characters; the name of a resource must not", name)
	}
	return nil
}

// Labels takes a label or a list of labels, under which the resource is grouped.
type Labels struct{ Values []string }

var labelPattern = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// Unpack implements starlark.Unpacker.
func (l *Labels) Unpack(v starlark.Value) error {
	var t value.Texts
	if err := t.Unpack(v); err != nil {
		return err
	}
	for _, label := range t.Values {
		if !labelPattern.MatchString(label) {
			return fmt.Errorf("%q is not a label: up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends", label)
		}
	}
	l.Values = t.Values
	return nil
}

// TriggerMode is TRIGGER_MODE_AUTO or TRIGGER_MODE_MANUAL, or neither.
type TriggerMode struct {
	mode  model.TriggerMode
	IsSet bool
}

var _ starlark.Value = TriggerMode{}

// Unpack implements starlark.Unpacker.
func (m *TriggerMode) Unpack(v starlark.Value) error {
	t, ok := v.(TriggerMode)
	if !ok {
		return fmt.Errorf("got %s, want TRIGGER_MODE_AUTO or TRIGGER_MODE_MANUAL", v.Type())
	}
	*m = t
	return nil
}

// String returns the constant's name.
func (m TriggerMode) String() string {
	if m.mode == model.TriggerManual {
		return "TRIGGER_MODE_MANUAL"
	}
	return "TRIGGER_MODE_AUTO"
}

// Type implements starlark.Value.
func (m TriggerMode) Type() string { return "trigger_mode" }

// Freeze implements starlark.Value.
func (m TriggerMode) Freeze() {}

// Truth implements starlark.Value.
func (m TriggerMode) Truth() starlark.Bool { return true }

// Hash implements starlark.Value.
func (m TriggerMode) Hash() (uint32, error) { return uint32(m.mode), nil }

func (d *Defaults) setTriggerMode(c *eval.Call) (starlark.Value, error) {
	var mode TriggerMode
	if err := c.Unpack("trigger_mode", &mode); err != nil {
		return nil, err
	}
	if d.isSet {
		return nil, errors.New("the default is already set; it can be set once")
	}
	d.triggerMode, d.isSet = mode.mode, true
	return nil, nil
}

// Mode returns the trigger mode, or the Tiltfile's default where none is set.
func (d *Defaults) Mode(m TriggerMode) model.TriggerMode {
	if m.IsSet {
		return m.mode
	}
	return d.triggerMode
}

// Names converts texts to names of resources.
func Names(names []string) []model.ManifestName {
	var out []model.ManifestName
	for _, n := range names {
		out = append(out, model.ManifestName(n))
	}
	return out
}

// SortedLabels returns a sorted copy.
func SortedLabels(labels []string) []string {
	out := slices.Clone(labels)
	slices.Sort(out)
	return out
}
