package api

import "time"

// RunningSession is one of what "hone sessions -o json" prints.
type RunningSession struct {
	Name      string    `json:"name"`
	PID       int       `json:"pid"`
	Command   string    `json:"command"`
	Tiltfile  string    `json:"tiltfile"`
	Context   string    `json:"context,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	// URL is left out by a session without a port. Kubeconfig is a file with which kubectl talks to it.
	URL        string `json:"url,omitempty"`
	Socket     string `json:"socket"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Log is the file that a session in the background writes to. What it held before it started over, because it had become
	// too large, is in a file of the same name with ".1" behind it.
	Log string `json:"log,omitempty"`
	// Resources counts them; left out when the session does not answer, and then Error says why.
	Resources *ResourceCounts `json:"resources,omitempty"`
	Error     string          `json:"error,omitempty"`
	// TiltfileError is the first line of what is wrong with the Tiltfile: the resources are as they were before.
	TiltfileError string `json:"tiltfileError,omitempty"`
}

// ResourceCounts says how many resources there are, and how many of them do well or fail. The others are on their way.
type ResourceCounts struct {
	Total   int `json:"total"`
	OK      int `json:"ok"`
	Failing int `json:"failing"`
}
