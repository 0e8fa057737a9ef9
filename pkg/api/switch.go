package api

// The values of SwitchRequest.State.
const (
	StateEnabled  = "enabled"
	StateDisabled = "disabled"
)

// SwitchRequest is the body of POST /api/switch, which enables or disables any number of resources at once. The Tiltfile
// itself cannot be switched. A name or a label that no resource has is an error, and then nothing is switched.
type SwitchRequest struct {
	// State is what the resources are to be: enabled or disabled.
	State string `json:"state"`
	// ManifestNames, Labels and All choose the resources: those with one of these names, those with one of these labels, or
	// all. One of them has to be set; All stands alone.
	ManifestNames []string `json:"manifest_names,omitempty"`
	Labels        []string `json:"labels,omitempty"`
	All           bool     `json:"all,omitempty"`
	// Only gives all other resources the opposite state.
	Only bool `json:"only,omitempty"`
}

// SwitchResult is the answer to a SwitchRequest, given when the session has taken it. The resources are in the order in which
// the Tiltfile declares them; lists without elements are [], never null.
type SwitchResult struct {
	// Enabled and Disabled are the resources that this request has switched.
	Enabled  []string `json:"enabled"`
	Disabled []string `json:"disabled"`
	// Unchanged are those that were to be switched, but were so already.
	Unchanged []string `json:"unchanged"`
}
