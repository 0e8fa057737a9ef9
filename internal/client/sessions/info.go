package sessions

import "time"

// Info describes a session and its addresses. It is the content of NAME.json.
type Info struct {
	Name      string    `json:"name"`
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"startedAt"`
	// Version is the version of hone.
	Version string `json:"version"`
	// Command is the verb: up or ci.
	Command string `json:"command"`
	// Tiltfile is its path without symbolic links; Context is the kubeconfig context, and Namespace the default namespace there. Both are
	// empty without a cluster.
	Tiltfile  string `json:"tiltfile"`
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Project is the ID of the project, which stays the same when the Tiltfile's folder is moved.
	Project string `json:"project,omitempty"`
	// Socket is the path of the socket; empty until the session responds there.
	Socket string `json:"socket,omitempty"`
	// Host, Port and URL are the session's address over TCP; zero if it has none.
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	URL  string `json:"url,omitempty"`
	// Log is the file that a background session writes to.
	Log string `json:"log,omitempty"`
	// Started is set once the session has started its work: the Tiltfile was evaluated, and its requirements are met.
	Started bool `json:"started"`
}

// sameProject reports whether two sessions work on the same project: the same Tiltfile in the same cluster, or the same
// project ID.
func (i Info) sameProject(other Info) bool {
	sameID := i.Project != "" && i.Project == other.Project
	return sameID || i.Tiltfile == other.Tiltfile && i.Context == other.Context
}

// BusyError means that another session works on the same project.
type BusyError struct{ Session Info }

// Error names the session.
func (e *BusyError) Error() string {
	return "session " + e.Session.Name + " is already running this project"
}

var _ error = (*BusyError)(nil)

// TakenError means that another session has the requested name.
type TakenError struct{ Session Info }

// Error names the session.
func (e *TakenError) Error() string {
	return "another session is called " + e.Session.Name
}

var _ error = (*TakenError)(nil)
