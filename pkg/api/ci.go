package api

// The values of CISummary.Result and CIResource.Result.
const (
	// CIReady is what is updated and ready; a session, when all of its resources are.
	CIReady = "ready"
	// CIFailed is what has failed for good.
	CIFailed = "failed"
	// CIPending is a resource that was not ready when the session ended.
	CIPending = "pending"
	// CIDisabled and CIManual are resources that ci leaves alone: switched off, or updated only when somebody asks.
	CIDisabled = "disabled"
	CIManual   = "manual"
	// CIStopped is a session that was ended from outside.
	CIStopped = "stopped"
)

// CISummary is how "hone ci" did.
type CISummary struct {
	// Result is ready, failed or stopped.
	Result string `json:"result"`
	// Failure is why it failed.
	Failure string `json:"failure,omitempty"`
	// TookMs is the time since the session began.
	TookMs Milliseconds `json:"tookMs"`
	// Resources are in the order of the Tiltfile, disabled ones last.
	Resources []CIResource `json:"resources"`
}

// CIResource is how a resource did.
type CIResource struct {
	Name string `json:"name"`
	// Type is k8s, local or compose.
	Type string `json:"type"`
	// Result is ready, failed, pending, disabled or manual.
	Result string `json:"result"`
	// Error is why it failed; State is what it was doing otherwise, unless it is ready.
	Error string `json:"error,omitempty"`
	State string `json:"state,omitempty"`
	// ReadyMs is the time from the session's begin until it was ready.
	ReadyMs Milliseconds `json:"readyMs,omitempty"`
	// WaitedMs is how long its updates waited in all, Waits for what; UpdatedMs is how long they took, and Updates how many
	// there were. The rest of the time went into getting ready, which is SettledMs.
	WaitedMs  Milliseconds `json:"waitedMs"`
	UpdatedMs Milliseconds `json:"updatedMs"`
	SettledMs Milliseconds `json:"settledMs"`
	Updates   int          `json:"updates"`
	Waits     []CIWait     `json:"waits,omitempty"`
	// Restarts are those of its pods.
	Restarts int `json:"restarts,omitempty"`
}

// CIWait is for what, and for how long, updates of a resource have waited.
type CIWait struct {
	// Reason is as in HoldEvent.
	Reason string `json:"reason"`
	// On are the resources that it waited for.
	On []string     `json:"on,omitempty"`
	Ms Milliseconds `json:"ms"`
}
