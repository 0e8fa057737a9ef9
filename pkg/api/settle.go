package api

// Settled is the body of the response to POST /api/settle. The session responds once it knows every change that was made before the
// request to the files that it watches, so that what a client reads afterwards takes them into account.
type Settled struct {
	// Known is false if the session cannot say so: files keep changing, or the system does not order their events.
	Known bool `json:"known"`
}
