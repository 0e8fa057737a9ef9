package sessions

import "time"

// Info says what a session is and where it answers. It is what NAME.json holds.
type Info struct {
	Name      string    `json:"name"`
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"startedAt"`
	// Version is that of hone.
	Version string `json:"version"`
	// Command is the verb: up or ci.
	Command string `json:"command"`
	// Tiltfile is its path without symbolic links; Context is the kubeconfig context, empty without a cluster.
	Tiltfile string `json:"tiltfile"`
	Context  string `json:"context,omitempty"`
	// Project is the ID of the project, which stays when the Tiltfile's folder is moved.
	Project string `json:"project,omitempty"`
	// Socket is the path of the socket; empty until the session answers there.
	Socket string `json:"socket,omitempty"`
	// Host, Port and URL say where it answers over TCP; zero without that.
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	URL  string `json:"url,omitempty"`
	// Log is the file that a session in the background writes to.
	Log string `json:"log,omitempty"`
	// Started is set once the session has begun its work: the Tiltfile was evaluated, and what it needs is there.
	Started bool `json:"started"`
}

// sameProject reports whether two sessions work on the same things: one Tiltfile, in one cluster.
func (i Info) sameProject(other Info) bool {
	return i.Tiltfile == other.Tiltfile && i.Context == other.Context || i.Project != "" && i.Project == other.Project
}

// BusyError says that another session works on the same project.
type BusyError struct{ Session Info }

// Error names the session.
func (e *BusyError) Error() string {
	return "session " + e.Session.Name + " is already running this project"
}

var _ error = (*BusyError)(nil)

// TakenError says that another session has the name that was asked for.
type TakenError struct{ Session Info }

// Error names the session.
func (e *TakenError) Error() string {
	return "another session is called " + e.Session.Name
}

var _ error = (*TakenError)(nil)
