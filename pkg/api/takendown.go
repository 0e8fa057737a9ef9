package api

// TakenDownRequest is the body of POST /api/taken_down. It announces that another process, such as "hone down", is about to
// delete objects of resources. The session stops the running updates of these resources, responds when they have ended, and
// does not deploy the resources again until the user requests it.
type TakenDownRequest struct {
	// ManifestNames are the names of the resources; empty for all.
	ManifestNames []string `json:"manifest_names,omitempty"`
	// By describes who deletes the objects, for display.
	By string `json:"by"`
}
