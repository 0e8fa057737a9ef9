package api

import "time"

// RunningSession is one session in the output of "hone sessions -o json".
type RunningSession struct {
	Name      string    `json:"name"`
	PID       int       `json:"pid"`
	Command   string    `json:"command"`
	Tiltfile  string    `json:"tiltfile"`
	Context   string    `json:"context,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	// URL is absent for a session without a port. Kubeconfig is the path of a kubeconfig file with which kubectl can talk to
	// the session.
	URL        string `json:"url,omitempty"`
	Socket     string `json:"socket"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Log is the file that a background session writes to. A file that becomes too large is started over; its previous
	// content is kept under the same name with ".1" appended.
	Log string `json:"log,omitempty"`
	// Resources is the number of resources by state; absent when the session does not respond. Error is then the reason.
	Resources *ResourceCounts `json:"resources,omitempty"`
	Error     string          `json:"error,omitempty"`
	// TiltfileError is the first line of the error in the Tiltfile. Resources then counts the resources of the last evaluation without
	// an error.
	TiltfileError string `json:"tiltfileError,omitempty"`
}

// ResourceCounts is the number of resources, and how many of them are ok or have failed. The others are pending.
type ResourceCounts struct {
	Total   int `json:"total"`
	OK      int `json:"ok"`
	Failing int `json:"failing"`
}
