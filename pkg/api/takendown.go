package api

// TakenDownRequest is the body of POST /api/taken_down: objects of resources are about to be deleted from outside, as "hone
// down" does. The session ends updates of these resources that run, answers when they have ended, and does not deploy the
// resources again before it is asked to.
type TakenDownRequest struct {
	// ManifestNames are the resources; all when there are none.
	ManifestNames []string `json:"manifest_names,omitempty"`
	// By says who does it, for people.
	By string `json:"by"`
}
