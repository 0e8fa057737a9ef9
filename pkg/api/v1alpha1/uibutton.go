package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// UIButton is a button that the user can click. A click starts or restarts the Cmds that refer to the button.
type UIButton struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the appearance of the button.
	Spec UIButtonSpec `json:"spec"`
	// Status is the newest click.
	Status UIButtonStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (b *UIButton) DeepCopyObject() runtime.Object { return deepCopy(b) }

// UIButtonSpec is the appearance of the button.
type UIButtonSpec struct {
	// Location is the place where the button is shown.
	Location UIComponentLocation `json:"location"`
	// Text is the text on the button.
	Text string `json:"text"`
	// IconName is the name of a Material icon; IconSVG takes precedence over it.
	IconName string `json:"iconName,omitempty"`
	// IconSVG is an <svg> element. It takes precedence over IconName.
	IconSVG string `json:"iconSVG,omitempty"`
	// Disabled buttons are shown, but cannot be clicked.
	Disabled bool `json:"disabled,omitempty"`
	// RequiresConfirmation makes the user click a second time to confirm.
	RequiresConfirmation bool `json:"requiresConfirmation,omitempty"`
	// ShowInputsAsModal shows the inputs in a dialog.
	ShowInputsAsModal bool `json:"showInputsAsModal,omitempty"`
	// Inputs are the values that are sent with a click.
	Inputs []UIInputSpec `json:"inputs,omitempty"`
}

// The values of UIComponentLocation.ComponentType.
const (
	ComponentTypeResource = "Resource"
	ComponentTypeGlobal   = "Global"
)

// UIComponentLocation is the place where a button is shown: next to a resource, or globally.
type UIComponentLocation struct {
	// ComponentID is the name of the resource, for ComponentType Resource.
	ComponentID string `json:"componentID"`
	// ComponentType is Resource or Global.
	ComponentType string `json:"componentType"`
}

// UIInputSpec is an input of a button; exactly one of Text, Bool, Hidden and Choice is set.
type UIInputSpec struct {
	// Name is the name of the environment variable that holds the value for the command.
	Name string `json:"name"`
	// Label is shown to the user instead of Name.
	Label string `json:"label,omitempty"`
	// Text is set for a text input.
	Text *UITextInputSpec `json:"text,omitempty"`
	// Bool is set for an input that is on or off.
	Bool *UIBoolInputSpec `json:"bool,omitempty"`
	// Hidden is set for an input that the user does not see.
	Hidden *UIHiddenInputSpec `json:"hidden,omitempty"`
	// Choice is set for an input with a fixed set of choices.
	Choice *UIChoiceInputSpec `json:"choice,omitempty"`
}

// UITextInputSpec is a text input.
type UITextInputSpec struct {
	// DefaultValue is the initial text.
	DefaultValue string `json:"defaultValue,omitempty"`
	// Placeholder is shown while the text is empty.
	Placeholder string `json:"placeholder,omitempty"`
}

// UIBoolInputSpec is an input that is on or off.
type UIBoolInputSpec struct {
	// DefaultValue is the initial state.
	DefaultValue bool `json:"defaultValue,omitempty"`
	// TrueString is the value for the command while the input is on; true if it is not set.
	TrueString *string `json:"trueString,omitempty"`
	// FalseString is the value for the command while the input is off; false if it is not set.
	FalseString *string `json:"falseString,omitempty"`
}

// UIHiddenInputSpec is an input that the user does not see.
type UIHiddenInputSpec struct {
	// Value is the value of the input. The API does not show it.
	Value string `json:"value,omitempty"`
}

// UIChoiceInputSpec is an input with a fixed set of choices.
type UIChoiceInputSpec struct {
	// Choices are the possible values; the first one is the default.
	Choices []string `json:"choices"`
}

// UIButtonStatus is the newest click. Setting LastClickedAt clicks the button with the values in Inputs.
type UIButtonStatus struct {
	// LastClickedAt is the time at which the session received the newest click.
	LastClickedAt metav1.MicroTime `json:"lastClickedAt,omitzero"`
	// Inputs are the values that were sent with the click, except the values of hidden inputs.
	Inputs []UIInputStatus `json:"inputs,omitempty"`
}

// UIInputStatus is the value of an input; exactly one of the kinds is set.
type UIInputStatus struct {
	// Name is the name of the input.
	Name string `json:"name"`
	// Text is set for a text input.
	Text *UITextInputStatus `json:"text,omitempty"`
	// Bool is set for an input that is on or off.
	Bool *UIBoolInputStatus `json:"bool,omitempty"`
	// Hidden is set for an input that the user does not see.
	Hidden *UIHiddenInputStatus `json:"hidden,omitempty"`
	// Choice is set for an input with a fixed set of choices.
	Choice *UIChoiceInputStatus `json:"choice,omitempty"`
}

// UITextInputStatus is the value of a text input.
type UITextInputStatus struct {
	// Value is the text.
	Value string `json:"value"`
}

// UIBoolInputStatus is the value of an input that is on or off.
type UIBoolInputStatus struct {
	// Value is true for on.
	Value bool `json:"value"`
}

// UIHiddenInputStatus is the value of a hidden input.
type UIHiddenInputStatus struct {
	// Value is the value of the input. The API does not show it.
	Value string `json:"value"`
}

// UIChoiceInputStatus is the value of an input with a fixed set of choices.
type UIChoiceInputStatus struct {
	// Value is the selected choice.
	Value string `json:"value"`
}

// ToggleButton is a button that toggles a state in a config map. Every resource has a toggle button that disables it.
type ToggleButton struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the appearance of the button and the state that it toggles.
	Spec ToggleButtonSpec `json:"spec"`
	// Status is the status of the button.
	Status ToggleButtonStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (b *ToggleButton) DeepCopyObject() runtime.Object { return deepCopy(b) }

// ToggleButtonSpec is the appearance of the button and the state that it toggles.
type ToggleButtonSpec struct {
	// Location is the place where the button is shown.
	Location UIComponentLocation `json:"location"`
	// On is the appearance of the button while the state is on.
	On ToggleButtonStateSpec `json:"on"`
	// Off is the appearance of the button while the state is off.
	Off ToggleButtonStateSpec `json:"off"`
	// DefaultOn is the state while the source has no value.
	DefaultOn bool `json:"defaultOn"`
	// StateSource is the config map that stores the state.
	StateSource StateSource `json:"stateSource"`
}

// ToggleButtonStateSpec is the appearance of a toggle button in one of its states.
type ToggleButtonStateSpec struct {
	// Text is the text on the button.
	Text string `json:"text"`
	// IconName is the name of a Material icon.
	IconName string `json:"iconName,omitempty"`
	// IconSVG is an <svg> element. It takes precedence over IconName.
	IconSVG string `json:"iconSVG,omitempty"`
	// RequiresConfirmation makes the user click a second time to confirm.
	RequiresConfirmation bool `json:"requiresConfirmation,omitempty"`
}

// StateSource is the config map that stores the state of a toggle button.
type StateSource struct {
	// ConfigMap is the config map and the key that hold the state.
	ConfigMap *ConfigMapStateSource `json:"configMap,omitempty"`
}

// ConfigMapStateSource is a key of a config map, with its two values.
type ConfigMapStateSource struct {
	// Name is the name of the ConfigMap.
	Name string `json:"name"`
	// Key is the key in the ConfigMap.
	Key string `json:"key"`
	// OnValue is the value of the key while the state is on.
	OnValue string `json:"onValue"`
	// OffValue is the value of the key while the state is off.
	OffValue string `json:"offValue"`
}

// ToggleButtonStatus is the status of the button.
type ToggleButtonStatus struct {
	// Error is always empty in hone.
	Error string `json:"error,omitempty"`
}

// ConfigMap is data that other objects refer to. It is unrelated to the ConfigMaps of a cluster. The one named
// RESOURCE-disable disables a resource while its key isDisabled is "true".
type ConfigMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Data maps keys to values.
	Data map[string]string `json:"data,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (m *ConfigMap) DeepCopyObject() runtime.Object { return deepCopy(m) }
