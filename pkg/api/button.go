package api

import "time"

// ClickRequest is the body of POST /api/click. Inputs that are omitted have their default values. A bool input takes true or
// false; the other inputs take text.
type ClickRequest struct {
	Button string         `json:"button"`
	Inputs map[string]any `json:"inputs,omitempty"`
}

// Button is a button that the Tiltfile declares. ComponentType is Resource or Global; for Resource, ComponentID is the name
// of a resource.
type Button struct {
	Name                 string  `json:"name"`
	Text                 string  `json:"text"`
	ComponentType        string  `json:"componentType"`
	ComponentID          string  `json:"componentID"`
	IconName             string  `json:"iconName,omitempty"`
	IconSVG              string  `json:"iconSVG,omitempty"`
	Disabled             bool    `json:"disabled,omitempty"`
	RequiresConfirmation bool    `json:"requiresConfirmation,omitempty"`
	InputsAsModal        bool    `json:"showInputsAsModal,omitempty"`
	Inputs               []Input `json:"inputs,omitempty"`
	// Clicks is the number of clicks. LastClickedAt is absent before the first click.
	Clicks        int       `json:"clicks"`
	LastClickedAt time.Time `json:"lastClickedAt,omitzero"`
}

// Input is a value that is sent with a click. Type is text, bool, choice or hidden. The value of a hidden input is not shown.
// Default is "true" or "false" for a bool.
type Input struct {
	Name        string   `json:"name"`
	Label       string   `json:"label,omitempty"`
	Type        string   `json:"type"`
	Default     string   `json:"default,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Choices     []string `json:"choices,omitempty"`
}

// Command is a command that the Tiltfile declares outside of any resource. State is the state of its newest run: waiting,
// running, succeeded, failed or stopped. Disabled is true while a config map disables the command.
type Command struct {
	Name      string    `json:"name"`
	State     string    `json:"state"`
	Disabled  bool      `json:"disabled,omitempty"`
	Ready     bool      `json:"ready"`
	Runs      int       `json:"runs"`
	PID       int       `json:"pid,omitempty"`
	ExitCode  int       `json:"exitCode,omitempty"`
	Error     string    `json:"error,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
}
