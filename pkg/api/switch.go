package api

// The values of SwitchRequest.State.
const (
	StateEnabled  = "enabled"
	StateDisabled = "disabled"
)

// SwitchRequest is the body of POST /api/switch, which enables or disables any number of resources at once. The Tiltfile
// itself can be neither enabled nor disabled. A name or a label that no resource has is an error, and then no resource is
// changed.
type SwitchRequest struct {
	// State is the desired state of the resources: enabled or disabled.
	State string `json:"state"`
	// ManifestNames, Labels and All select the resources: those with one of these names, those with one of these labels, or
	// all. One of them must be set. All excludes the other two.
	ManifestNames []string `json:"manifest_names,omitempty"`
	Labels        []string `json:"labels,omitempty"`
	All           bool     `json:"all,omitempty"`
	// Only gives all other resources the opposite state.
	Only bool `json:"only,omitempty"`
}

// SwitchResult is the response to a SwitchRequest, sent once the session has accepted the request. The resources are in the
// order in which the Tiltfile declares them; lists without elements are [], never null.
type SwitchResult struct {
	// Enabled and Disabled are the resources that this request enabled and disabled.
	Enabled  []string `json:"enabled"`
	Disabled []string `json:"disabled"`
	// Unchanged are the selected resources that already were in the desired state.
	Unchanged []string `json:"unchanged"`
}
