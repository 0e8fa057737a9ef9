package api

import "time"

// ClickRequest is the body of POST /api/click. Inputs that are left out have their defaults; a bool takes true or false,
// the others text.
type ClickRequest struct {
	Button string         `json:"button"`
	Inputs map[string]any `json:"inputs,omitempty"`
}

// Button is a button that the Tiltfile declares. ComponentType is Resource, and then ComponentID a resource's name, or
// Global.
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
	// Clicks counts the clicks; LastClickedAt is left out before the first.
	Clicks        int       `json:"clicks"`
	LastClickedAt time.Time `json:"lastClickedAt,omitzero"`
}

// Input is what a click brings along. Type is text, bool, choice or hidden; what a hidden one holds is not told. Default
// is "true" or "false" for a bool.
type Input struct {
	Name        string   `json:"name"`
	Label       string   `json:"label,omitempty"`
	Type        string   `json:"type"`
	Default     string   `json:"default,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Choices     []string `json:"choices,omitempty"`
}

// Command is a command that the Tiltfile declares beside all resources. State is waiting, running, succeeded, failed or
// stopped, and tells of the newest of its runs; Disabled says that a config map switches it off.
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
