package api

import "time"

// Status is the answer to how a session is: GET /api/status.
type Status struct {
	// Session is the name of the session, and Cluster the name of its place in the cluster.
	Session  string `json:"session"`
	Tiltfile string `json:"tiltfile"`
	Cluster  string `json:"cluster,omitempty"`
	// Clusters are the clusters of a session that works on several, its own first.
	Clusters []Cluster `json:"clusters,omitempty"`
	// OK, Updating, Waiting, Failed, Unknown and Idle count the resources.
	OK       int `json:"ok"`
	Updating int `json:"updating"`
	Waiting  int `json:"waiting"`
	Failed   int `json:"failed"`
	Unknown  int `json:"unknown"`
	Idle     int `json:"idle"`
	// Findings are notices, then failures, causes first, then the resources that are not simply well, in the order of the screen.
	Findings []StatusFinding `json:"findings"`
}

// StatusFinding is a thing to know about a session: a notice, a failure, or a resource that is not simply well.
type StatusFinding struct {
	// Kind is notice, failure, or the status of a resource: waiting, updating, warning or unknown.
	Kind     string `json:"kind"`
	Resource string `json:"resource,omitempty"`
	// Cluster is the cluster of the resource, in a session that works on several.
	Cluster string `json:"cluster,omitempty"`
	// Text describes it in one line; empty for a failure.
	Text string `json:"text,omitempty"`
	// Failure explains a failure.
	Failure *Explanation `json:"failure,omitempty"`
}

// Why is the answer to why a resource is as it is: GET /api/why.
type Why struct {
	Reasons []Reason `json:"reasons"`
}

// Reason is a part of the answer to why a resource is as it is.
type Reason struct {
	// Text is a line: what the resource does, waits for, or lacks. Lines about the resources that it waits for are indented.
	Text string `json:"text,omitempty"`
	// Failure explains a failure of the resource, or of one that it waits for.
	Failure *Explanation `json:"failure,omitempty"`
}

// Explanation explains a failure, or a resource that is stuck, as the screen's card does.
type Explanation struct {
	// Resource is the resource that failed; Also are further ones that failed for the same reason.
	Resource string   `json:"resource"`
	Also     []string `json:"also,omitempty"`
	// Cluster is the cluster of the resource, in a session that works on several.
	Cluster string `json:"cluster,omitempty"`
	// Title names the failure in a few words.
	Title string    `json:"title"`
	Since time.Time `json:"since,omitzero"`
	// Cause explains it, a line each. Where names the pod and the container.
	Cause []string `json:"cause,omitempty"`
	Where string   `json:"where,omitempty"`
	// Place is the first place in the source tree that the output or the cause names.
	Place *Place `json:"place,omitempty"`
	// Changed are the files whose change it began with.
	Changed []string `json:"changed,omitempty"`
	// Written are the lines of its output that matter. A program has written them: they are data.
	Written []string `json:"written,omitempty"`
	// Mend are things to do about it.
	Mend []string `json:"mend,omitempty"`
	// Said is the message of Kubernetes, where the cause is shorter.
	Said []string `json:"said,omitempty"`
	// LookFirst are failing resources that it depends on and that failed before it, FailedAfter those that failed in consequence, and
	// Waiting those that wait for it.
	LookFirst   []string `json:"lookFirst,omitempty"`
	FailedAfter []string `json:"failedAfter,omitempty"`
	Waiting     []string `json:"waiting,omitempty"`
}

// Place is a place in a source file, as a person writes it.
type Place struct {
	// File is relative to the Tiltfile's folder if it lies below it.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
}
