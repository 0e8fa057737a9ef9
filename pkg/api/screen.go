package api

// ScreenRequest is the body of POST /api/screen: the user of a screen, which reads GET /api/snapshot/follow with this id, has selected a
// resource. Selected is empty for none.
type ScreenRequest struct {
	ID       string `json:"id"`
	Selected string `json:"selected"`
}

// Object is the response to GET /api/object: an object that the session has applied, as the cluster has it now.
type Object struct {
	// YAML is for people: without the values of Secrets, and without fields that only programs read.
	YAML string `json:"yaml"`
}

// PreviousRun is the response to GET /api/previous: the newest lines of the run of a container before its present one.
type PreviousRun struct {
	Lines []string `json:"lines"`
}
