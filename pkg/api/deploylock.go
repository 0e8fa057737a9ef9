package api

// DeployLockRequest is the body of POST /api/turn. Another process, such as "hone ci", is about to deploy the session's project: the session
// begins no update from now on. The lock lasts until the client closes the connection.
type DeployLockRequest struct {
	// By names the process, for people: "hone ci (pid 42)".
	By string `json:"by"`
}

// DeployLock is a line of the response to a DeployLockRequest.
type DeployLock struct {
	// WaitsFor are the resources whose running updates have to end first.
	WaitsFor []string `json:"waitsFor,omitempty"`
	// Granted is set in the last line: no update is running now.
	Granted bool `json:"granted,omitempty"`
}
