package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// UIButton is something that the user can click. What a click does is up to the Cmds that name it.
type UIButton struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what a button looks like.
	Spec UIButtonSpec `json:"spec"`
	// Status is the newest click.
	Status UIButtonStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (b *UIButton) DeepCopyObject() runtime.Object { return deepCopy(b) }

// UIButtonSpec is what a button looks like.
type UIButtonSpec struct {
	// Location is where it stands.
	Location UIComponentLocation `json:"location"`
	// Text is what it says.
	Text string `json:"text"`
	// IconName is that of a Material icon; IconSVG, an <svg> element, goes before it.
	IconName string `json:"iconName,omitempty"`
	// IconSVG is an <svg> element, which goes before IconName.
	IconSVG string `json:"iconSVG,omitempty"`
	// Disabled buttons are shown, but cannot be clicked.
	Disabled bool `json:"disabled,omitempty"`
	// RequiresConfirmation asks whoever clicks to do so twice.
	RequiresConfirmation bool `json:"requiresConfirmation,omitempty"`
	// ShowInputsAsModal asks for the inputs in a dialog.
	ShowInputsAsModal bool `json:"showInputsAsModal,omitempty"`
	// Inputs are what a click brings along.
	Inputs []UIInputSpec `json:"inputs,omitempty"`
}

// The values of UIComponentLocation.ComponentType.
const (
	ComponentTypeResource = "Resource"
	ComponentTypeGlobal   = "Global"
)

// UIComponentLocation says what a button stands beside.
type UIComponentLocation struct {
	// ComponentID is the name of the resource, for ComponentType Resource.
	ComponentID string `json:"componentID"`
	// ComponentType is Resource or Global.
	ComponentType string `json:"componentType"`
}

// UIInputSpec is what a click brings along; exactly one of the kinds is set.
type UIInputSpec struct {
	// Name is that of the environment variable which the command sees.
	Name string `json:"name"`
	// Label is what people see in the place of Name.
	Label string `json:"label,omitempty"`
	// Text is set for an input of text.
	Text *UITextInputSpec `json:"text,omitempty"`
	// Bool is set for one that is on or off.
	Bool *UIBoolInputSpec `json:"bool,omitempty"`
	// Hidden is set for one that nobody is asked for.
	Hidden *UIHiddenInputSpec `json:"hidden,omitempty"`
	// Choice is set for one with a set of answers.
	Choice *UIChoiceInputSpec `json:"choice,omitempty"`
}

// UITextInputSpec is an input of text.
type UITextInputSpec struct {
	// DefaultValue is what it holds before the user has typed.
	DefaultValue string `json:"defaultValue,omitempty"`
	// Placeholder is shown while it is empty.
	Placeholder string `json:"placeholder,omitempty"`
}

// UIBoolInputSpec is an input that is on or off.
type UIBoolInputSpec struct {
	// DefaultValue is what it is before the user has chosen.
	DefaultValue bool `json:"defaultValue,omitempty"`
	// TrueString and FalseString are what the command sees.
	TrueString *string `json:"trueString,omitempty"`
	// FalseString is what the command sees while it is off; false where it is not given.
	FalseString *string `json:"falseString,omitempty"`
}

// UIHiddenInputSpec is an input that nobody is asked for.
type UIHiddenInputSpec struct {
	// Value is not shown by the API.
	Value string `json:"value,omitempty"`
}

// UIChoiceInputSpec is an input with a set of answers.
type UIChoiceInputSpec struct {
	// Choices are the answers; the first is the default.
	Choices []string `json:"choices"`
}

// UIButtonStatus is the newest click. Setting LastClickedAt clicks the button, with Inputs.
type UIButtonStatus struct {
	// LastClickedAt is when the session learnt of the newest click.
	LastClickedAt metav1.MicroTime `json:"lastClickedAt,omitzero"`
	// Inputs are what it brought along, without what is hidden.
	Inputs []UIInputStatus `json:"inputs,omitempty"`
}

// UIInputStatus is the value of an input; exactly one of the kinds is set.
type UIInputStatus struct {
	// Name is that of the input.
	Name string `json:"name"`
	// Text is set for an input of text.
	Text *UITextInputStatus `json:"text,omitempty"`
	// Bool is set for one that is on or off.
	Bool *UIBoolInputStatus `json:"bool,omitempty"`
	// Hidden is set for one that nobody is asked for.
	Hidden *UIHiddenInputStatus `json:"hidden,omitempty"`
	// Choice is set for one with a set of answers.
	Choice *UIChoiceInputStatus `json:"choice,omitempty"`
}

// UITextInputStatus is a text.
type UITextInputStatus struct {
	// Value is the text.
	Value string `json:"value"`
}

// UIBoolInputStatus is on or off.
type UIBoolInputStatus struct {
	// Value is true for on.
	Value bool `json:"value"`
}

// UIHiddenInputStatus is what a hidden input holds.
type UIHiddenInputStatus struct {
	// Value is not shown by the API.
	Value string `json:"value"`
}

// UIChoiceInputStatus is one of the choices.
type UIChoiceInputStatus struct {
	// Value is the answer that was chosen.
	Value string `json:"value"`
}

// ToggleButton is a button with two positions, which are those of a config map. Every resource has one that switches it
// off.
type ToggleButton struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what a button looks like, and what it changes.
	Spec ToggleButtonSpec `json:"spec"`
	// Status is how the button does.
	Status ToggleButtonStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (b *ToggleButton) DeepCopyObject() runtime.Object { return deepCopy(b) }

// ToggleButtonSpec is what a button looks like, and what it changes.
type ToggleButtonSpec struct {
	// Location is where it stands.
	Location UIComponentLocation `json:"location"`
	// On is what the button says while the state is on, Off what it says while it is off.
	On ToggleButtonStateSpec `json:"on"`
	// Off is what the button says while the state is off.
	Off ToggleButtonStateSpec `json:"off"`
	// DefaultOn is the state where the source says nothing.
	DefaultOn bool `json:"defaultOn"`
	// StateSource is where the state is kept.
	StateSource StateSource `json:"stateSource"`
}

// ToggleButtonStateSpec is what a button looks like in one of its positions.
type ToggleButtonStateSpec struct {
	// Text is what it says.
	Text string `json:"text"`
	// IconName is that of a Material icon.
	IconName string `json:"iconName,omitempty"`
	// IconSVG is an <svg> element, which goes before IconName.
	IconSVG string `json:"iconSVG,omitempty"`
	// RequiresConfirmation asks whoever clicks to do so twice.
	RequiresConfirmation bool `json:"requiresConfirmation,omitempty"`
}

// StateSource is where the state of a button is kept.
type StateSource struct {
	// ConfigMap is the key that it is kept in.
	ConfigMap *ConfigMapStateSource `json:"configMap,omitempty"`
}

// ConfigMapStateSource is a key of a config map with two values.
type ConfigMapStateSource struct {
	// Name is that of the ConfigMap.
	Name string `json:"name"`
	// Key is the key in it.
	Key string `json:"key"`
	// OnValue is its value while the state is on.
	OnValue string `json:"onValue"`
	// OffValue is its value while the state is off.
	OffValue string `json:"offValue"`
}

// ToggleButtonStatus is how the button does.
type ToggleButtonStatus struct {
	// Error is left out by hone.
	Error string `json:"error,omitempty"`
}

// ConfigMap is data that other objects refer to. It has nothing to do with those of a cluster. That which is called
// RESOURCE-disable switches a resource off while its key isDisabled is "true".
type ConfigMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Data are the values by their keys.
	Data map[string]string `json:"data,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (m *ConfigMap) DeepCopyObject() runtime.Object { return deepCopy(m) }
