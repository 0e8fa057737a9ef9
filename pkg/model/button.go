package model

import (
	"fmt"
	"slices"
	"strings"
)

// Button is something that the user can click: v1alpha1.ui_button. What a click does is up to the commands that name
// the button in what starts or restarts them.
type Button struct {
	// Name is unique among buttons.
	Name string
	// Text is what the button says.
	Text     string
	Place    ButtonPlace
	IconName string
	// IconSVG is an <svg> element; it goes before IconName.
	IconSVG string
	// Disabled buttons are shown, but cannot be clicked.
	Disabled bool
	// RequiresConfirmation asks whoever clicks with a pointer or a key to do so twice. A click through the API is not
	// asked: a program does not slip.
	RequiresConfirmation bool
	// InputsAsModal asks for the inputs in a dialog rather than in a menu.
	InputsAsModal bool
	Inputs        []Input
	// Log is the resource in whose log the commands that the button starts speak; empty where the button belongs to
	// none.
	Log ManifestName
	Meta
}

// ComponentType is what a button stands beside.
type ComponentType string

// The places for buttons.
const (
	ComponentResource ComponentType = "Resource"
	ComponentGlobal   ComponentType = "Global"
)

// ButtonPlace says where a button stands: beside the resource called Component, or in the bar that belongs to all.
type ButtonPlace struct {
	Type      ComponentType
	Component string
}

// Meta is what every object of the API carries beside its specification.
type Meta struct {
	Labels      map[string]string
	Annotations map[string]string
}

// InputKind tells what an input takes.
type InputKind string

// The kinds of inputs.
const (
	InputText   InputKind = "text"
	InputBool   InputKind = "bool"
	InputChoice InputKind = "choice"
	InputHidden InputKind = "hidden"
)

// Input is a value that a click brings along. It reaches the command as the environment variable of its name.
type Input struct {
	Name  string
	Label string
	Kind  InputKind
	// Default is the text that holds where a click gives none: of a text what the Tiltfile says, of a choice its first,
	// of a hidden input its only value. Of a bool it is one of True and False.
	Default string
	// Placeholder hints at what a text is about.
	Placeholder string
	// True and False are what a bool becomes; On says which of them at first.
	True, False string
	On          bool
	Choices     []string
}

// InputError says what is wrong with the inputs of a click.
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

// Resolve returns the text of every input for a click that gives some of them; the others have their defaults. Text
// takes a string, bool true or false or the words for them, a choice one of its choices, and a hidden input nothing but
// the value that it has anyway. The error is an *InputError.
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

// text returns what a given value stands for, or why it will not do.
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
	}
	switch {
	case !isText:
		return "", "takes text"
	case strings.ContainsRune(s, 0):
		return "", "must not hold a NUL, which no environment variable can"
	}
	return s, ""
}
