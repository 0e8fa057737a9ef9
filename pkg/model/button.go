package model

import (
	"fmt"
	"slices"
	"strings"
)

// Button is a button that the user can click: v1alpha1.ui_button. A click starts or restarts the commands whose triggers name
// the button.
type Button struct {
	// Name is unique among buttons.
	Name string
	// Text is the text on the button.
	Text     string
	Place    ButtonPlace
	IconName string
	// IconSVG is an <svg> element. It takes precedence over IconName.
	IconSVG string
	// Disabled buttons are shown, but cannot be clicked.
	Disabled bool
	// RequiresConfirmation makes the user click a second time to confirm. A click through the API needs no confirmation:
	// programs do not click by accident.
	RequiresConfirmation bool
	// InputsAsModal shows the inputs in a dialog rather than in a menu.
	InputsAsModal bool
	Inputs        []Input
	// Log is the resource whose log receives the output of the commands that the button starts; empty where the button
	// belongs to no resource.
	Log ManifestName
	Meta
}

// ComponentType is the kind of component next to which a button is shown.
type ComponentType string

// The places for buttons.
const (
	ComponentResource ComponentType = "Resource"
	ComponentGlobal   ComponentType = "Global"
)

// ButtonPlace is the place where a button is shown: next to the resource named Component, or in the global bar.
type ButtonPlace struct {
	Type      ComponentType
	Component string
}

// Meta is the metadata of an object of the API.
type Meta struct {
	Labels      map[string]string
	Annotations map[string]string
}

// InputKind is the kind of value that an input takes.
type InputKind string

// The kinds of inputs.
const (
	InputText   InputKind = "text"
	InputBool   InputKind = "bool"
	InputChoice InputKind = "choice"
	InputHidden InputKind = "hidden"
)

// Input is a value that is sent with a click. The command receives it in the environment variable Name.
type Input struct {
	Name  string
	Label string
	Kind  InputKind
	// Default is the value if a click gives none: the Tiltfile's default for a text, the first choice for a choice, the only
	// value for a hidden input, and either True or False for a bool.
	Default string
	// Placeholder is shown while a text is empty.
	Placeholder string
	// True and False are the values of a bool. On is its initial state.
	True, False string
	On          bool
	Choices     []string
}

// InputError describes an invalid input of a click.
type InputError struct {
	Button string
	Input  string
	Reason string
}

// Error names the button and the input.
func (e *InputError) Error() string {
	return fmt.Sprintf("button %q: input %q %s", e.Button, e.Input, e.Reason)
}

var _ error = (*InputError)(nil)

// Resolve returns the value of every input as text, for a click that gives the values in given; the other inputs have their
// defaults. A text takes a string; a bool takes true, false, "true" or "false"; a choice takes one of its choices; and a
// hidden input accepts only the value that it already has. The error is an *InputError.
func (b Button) Resolve(given map[string]any) (map[string]string, error) {
	out := make(map[string]string, len(b.Inputs))
	for _, in := range b.Inputs {
		out[in.Name] = in.Default
		if v, ok := given[in.Name]; ok {
			text, reason := in.text(v)
			if reason != "" {
				return nil, &InputError{b.Name, in.Name, reason}
			}
			out[in.Name] = text
		}
	}
	for name := range given {
		if _, ok := out[name]; !ok {
			return nil, &InputError{b.Name, name, "does not exist: " + b.inputNames()}
		}
	}
	return out, nil
}

func (b Button) inputNames() string {
	if len(b.Inputs) == 0 {
		return "the button has none"
	}
	names := make([]string, len(b.Inputs))
	for i, in := range b.Inputs {
		names[i] = in.Name
	}
	return "there are " + strings.Join(names, ", ")
}

// text returns the text for a given value, or why the value is invalid.
func (in Input) text(v any) (text, reason string) {
	s, isText := v.(string)
	switch in.Kind {
	case InputBool:
		switch {
		case v == true, s == "true":
			return in.True, ""
		case v == false, s == "false":
			return in.False, ""
		}
		return "", "takes true or false"
	case InputChoice:
		if isText && slices.Contains(in.Choices, s) {
			return s, ""
		}
		return "", "takes one of " + strings.Join(in.Choices, ", ")
	case InputHidden:
		if isText && s == in.Default {
			return s, ""
		}
		return "", "is fixed by the Tiltfile"
	case InputText: // below
	}
	switch {
	case !isText:
		return "", "takes text"
	case strings.ContainsRune(s, 0):
		return "", "must not hold a NUL, which no environment variable can"
	}
	return s, ""
}
