package projection

import (
	"iter"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const kindUIButton = "UIButton"

func uiButton() Kind {
	type object = *v1alpha1.UIButton
	return Kind{
		Name: kindUIButton, ShortNames: []string{"uib"},
		Doc:    "UIButton is a button that the user can click. Setting its status.lastClickedAt, with status.inputs, clicks it.",
		Tables: tables(state.Buttons, state.Resources),
		Items: func(v store.View) iter.Seq[Item] {
			s := sourceOf(v)
			var items []Item
			for i := range each(s, kindUIButton, state.Buttons.In(v), makeButton) {
				items = append(items, i)
			}
			return inOrder(append(items, toggles(s, kindUIButton, (*toggleHead).buttonName, makeToggle)...))
		},
		New: func() Object { return &v1alpha1.UIButton{} },
		Columns: []Column{
			column("Text", "The text on the button.", func(o object) any { return o.Spec.Text }),
			column("Component", "Where the button is shown.", func(o object) any {
				if o.Spec.Location.ComponentID == "" {
					return o.Spec.Location.ComponentType
				}
				return o.Spec.Location.ComponentType + "/" + o.Spec.Location.ComponentID
			}),
			column("Disabled", "Whether it cannot be clicked.", func(o object) any { return o.Spec.Disabled }),
			column("Clicked", "When it was last clicked.", func(o object) any { return o.Status.LastClickedAt.Time }),
		},
		Write: writeButton,
	}
}

func makeButton(e *store.Entry[state.Button]) *v1alpha1.UIButton {
	b := &e.Value
	o := &v1alpha1.UIButton{ObjectMeta: metaOf(&e.Meta, b.Annotations)}
	o.Spec = v1alpha1.UIButtonSpec{Location: v1alpha1.UIComponentLocation{ComponentID: b.Place.Component, ComponentType: string(b.Place.Type)},
		Text: b.Text, IconName: b.IconName, IconSVG: b.IconSVG, Disabled: b.Disabled, RequiresConfirmation: b.RequiresConfirmation,
		ShowInputsAsModal: b.InputsAsModal}
	o.Status.LastClickedAt = micro(b.Click.At)
	for _, in := range b.Inputs {
		o.Spec.Inputs = append(o.Spec.Inputs, inputSpec(in))
		if value, ok := b.Click.Inputs[in.Name]; ok && in.Kind != model.InputHidden {
			o.Status.Inputs = append(o.Status.Inputs, inputStatus(in, value))
		}
	}
	return o
}

// inputSpec returns an input as declared, without the value of a hidden input.
func inputSpec(in model.Input) v1alpha1.UIInputSpec {
	out := v1alpha1.UIInputSpec{Name: in.Name, Label: in.Label}
	switch in.Kind {
	case model.InputBool:
		out.Bool = &v1alpha1.UIBoolInputSpec{DefaultValue: in.On, TrueString: &in.True, FalseString: &in.False}
	case model.InputChoice:
		out.Choice = &v1alpha1.UIChoiceInputSpec{Choices: in.Choices}
	case model.InputHidden:
		out.Hidden = &v1alpha1.UIHiddenInputSpec{}
	default:
		out.Text = &v1alpha1.UITextInputSpec{DefaultValue: in.Default, Placeholder: in.Placeholder}
	}
	return out
}

func inputStatus(in model.Input, value string) v1alpha1.UIInputStatus {
	out := v1alpha1.UIInputStatus{Name: in.Name}
	switch in.Kind {
	case model.InputBool:
		out.Bool = &v1alpha1.UIBoolInputStatus{Value: value == in.True}
	case model.InputChoice:
		out.Choice = &v1alpha1.UIChoiceInputStatus{Value: value}
	default:
		out.Text = &v1alpha1.UITextInputStatus{Value: value}
	}
	return out
}

// The texts of the button that switches a resource.
const (
	enableText  = "Enable Resource"
	disableText = "Disable Resource"
)

func toggleButton() Kind {
	type object = *v1alpha1.ToggleButton
	return Kind{
		Name:   "ToggleButton",
		Doc:    "ToggleButton is a button with two positions. Every resource has one, which disables and enables it.",
		Tables: tables(state.Resources),
		Items: func(v store.View) iter.Seq[Item] {
			return inOrder(toggles(sourceOf(v), "ToggleButton", (*toggleHead).disableName, makeToggleButton))
		},
		New: func() Object { return &v1alpha1.ToggleButton{} },
		Columns: []Column{
			column("ConfigMap", "The config map that keeps its position.", func(o object) any {
				if o.Spec.StateSource.ConfigMap == nil {
					return ""
				}
				return o.Spec.StateSource.ConfigMap.Name
			}),
		},
		Write: readOnly("togglebuttons", "its position is kept in a ConfigMap of the same name: set data."+disabledKey+
			` in it to "true" or "false", or use hone disable and hone enable`),
	}
}

// toggles lists one object per resource. The object depends only on whether the resource should be enabled.
func toggles[O Object](s *source, kind string, name func(*toggleHead) string, create func(e *store.Entry[state.Resource], off bool) O) []Item {
	entries, heads := toggleHeads.In(s.View)
	items, makers := make([]Item, 0, len(entries)), make([]toggle[O], len(entries))
	all := &toggleObjects[O]{s, kind, name, create}
	for i, e := range entries {
		h := &heads[i]
		if !h.stays {
			continue
		}
		makers[i] = toggle[O]{all, h, e}
		items = append(items, Item{Name: name(h), Key: Key{made: h.made, secrets: s.secrets}, Maker: &makers[i]})
	}
	return items
}

// toggleHead is the data of a resource for listing its toggles.
type toggleHead struct {
	stays, off bool
	// made is a digest of the sources of the objects. The other fields are names of objects.
	made            digest
	disable, button string
}

var toggleHeads = state.EachResource("list of switches", func(e *store.Entry[state.Resource]) toggleHead {
	is, stays := state.Staying(e)
	h := toggleHead{stays: stays, off: !is.Enabled, disable: disableName(e.ID), button: toggleButtonName(e.ID)}
	h.made = digest(0).number(uint64(e.Created.UnixNano())).word(e.ID)
	if h.off {
		h.made = h.made.number(1)
	}
	for _, l := range e.Value.Manifest.Labels {
		h.made = h.made.word(l)
	}
	return h
})

func (h *toggleHead) disableName() string { return h.disable }
func (h *toggleHead) buttonName() string  { return h.button }

// toggleObjects is the common part of the objects of one kind that toggles lists.
type toggleObjects[O Object] struct {
	source *source
	kind   string
	name   func(*toggleHead) string
	create func(e *store.Entry[state.Resource], off bool) O
}

// toggle is the object of one resource.
type toggle[O Object] struct {
	*toggleObjects[O]
	head     *toggleHead
	resource *store.Entry[state.Resource]
}

// Make implements Maker.
func (t *toggle[O]) Make() Object {
	return finish(t.source, t.kind, t.name(t.head), t.create(t.resource, t.head.off))
}

// Alone implements Maker.
func (t *toggle[O]) Alone() Maker {
	own, head := *t, *t.head
	own.head = &head
	return &own
}

// toggleButtonName returns the name of the UIButton that a resource's ToggleButton shows.
func toggleButtonName(resource string) string { return "toggle-" + disableName(resource) }

func makeToggle(e *store.Entry[state.Resource], off bool) *v1alpha1.UIButton {
	o := &v1alpha1.UIButton{ObjectMeta: metaOfResource(e)}
	o.Annotations["tilt.dev/uibutton-type"] = "DisableToggle"
	o.Spec = v1alpha1.UIButtonSpec{Location: besides(e.ID), Text: disableText, IconName: "cancel", RequiresConfirmation: true}
	if off {
		o.Spec.Text, o.Spec.IconName, o.Spec.RequiresConfirmation = enableText, "check_circle", false
	}
	return o
}

func makeToggleButton(e *store.Entry[state.Resource], _ bool) *v1alpha1.ToggleButton {
	o := &v1alpha1.ToggleButton{ObjectMeta: metaOfResource(e)}
	o.Spec = v1alpha1.ToggleButtonSpec{Location: besides(e.ID),
		On:  v1alpha1.ToggleButtonStateSpec{Text: enableText, IconName: "check_circle"},
		Off: v1alpha1.ToggleButtonStateSpec{Text: disableText, IconName: "cancel", RequiresConfirmation: true},
		StateSource: v1alpha1.StateSource{ConfigMap: &v1alpha1.ConfigMapStateSource{Name: disableName(e.ID), Key: disabledKey,
			OnValue: "true", OffValue: "false"}}}
	return o
}

func besides(resource string) v1alpha1.UIComponentLocation {
	return v1alpha1.UIComponentLocation{ComponentID: resource, ComponentType: v1alpha1.ComponentTypeResource}
}
