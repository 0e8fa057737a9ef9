package tiltfile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// resourceDefaults are what holds for resources that do not say otherwise. They are used by one goroutine.
type resourceDefaults struct {
	triggerMode model.TriggerMode
	// isSet is true once trigger_mode was called.
	isSet bool
}

// builtins are the functions that resources of every kind share.
func (d *resourceDefaults) builtins() map[string]eval.Function {
	return map[string]eval.Function{"trigger_mode": d.setTriggerMode, "link": newLinkValue}
}

// resourceConstants are the trigger modes by their names.
func resourceConstants() starlark.StringDict {
	return starlark.StringDict{
		"TRIGGER_MODE_AUTO":   triggerMode{mode: model.TriggerAuto, isSet: true},
		"TRIGGER_MODE_MANUAL": triggerMode{mode: model.TriggerManual, isSet: true},
	}
}

// common are the options that resources of every kind have.
type common struct {
	triggerMode triggerMode
	deps        value.Texts
	autoInit    value.Bool
	links       links
	labels      labelList
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

// labelList takes a label or a list of labels, under which the resource is grouped.
type labelList struct{ values []string }

var labelPattern = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// Unpack implements starlark.Unpacker.
func (l *labelList) Unpack(v starlark.Value) error {
	var t value.Texts
	if err := t.Unpack(v); err != nil {
		return err
	}
	for _, label := range t.Values {
		if !labelPattern.MatchString(label) {
			return fmt.Errorf("%q is not a label: up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends", label)
		}
	}
	l.values = t.Values
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

func (d *resourceDefaults) setTriggerMode(c *eval.Call) (starlark.Value, error) {
	var mode triggerMode
	if err := c.Unpack("trigger_mode", &mode); err != nil {
		return nil, err
	}
	if d.isSet {
		return nil, errors.New("the default is already set; it can be set once")
	}
	d.triggerMode, d.isSet = mode.mode, true
	return nil, nil
}

// mode returns the trigger mode, the Tiltfile's default where none is set.
func (d *resourceDefaults) mode(m triggerMode) model.TriggerMode {
	if m.isSet {
		return m.mode
	}
	return d.triggerMode
}

func manifestNames(names []string) []model.ManifestName {
	var out []model.ManifestName
	for _, n := range names {
		out = append(out, model.ManifestName(n))
	}
	return out
}

func sortedLabels(labels []string) []string {
	out := slices.Clone(labels)
	slices.Sort(out)
	return out
}
