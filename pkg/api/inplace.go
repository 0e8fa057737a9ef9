package api

import "time"

// Milliseconds is a duration in milliseconds.
type Milliseconds float64

// ContainerUpdate is what an update in place did in one container. Mode is synclet, container or exec. With Behind, the update
// is still running there, and nothing is known of it yet.
type ContainerUpdate struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	ID        string `json:"id"`
	Mode      string `json:"mode,omitempty"`
	// Files were copied and Deletes deleted; Same needed neither. Bytes is the size of what was copied.
	Files   int          `json:"files"`
	Deletes int          `json:"deletes"`
	Same    int          `json:"same"`
	Bytes   int64        `json:"bytes"`
	TotalMs Milliseconds `json:"totalMs"`
	Stages  Stages       `json:"stages"`
	Error   string       `json:"error,omitempty"`
	Behind  bool         `json:"behind,omitempty"`
}

// Stages are how long the parts of an update in place took. They follow on each other: noticed is from the save until hone
// knew of it, waited until the update of the container began, sent until the last byte had left, applied until the container
// acknowledged that the files are in place, ran until the commands had ended, restarted until the new process ran. What there
// was not is zero: where an update goes through exec or a container engine, sending and applying are one.
type Stages struct {
	NoticedMs   Milliseconds `json:"noticedMs"`
	WaitedMs    Milliseconds `json:"waitedMs"`
	SentMs      Milliseconds `json:"sentMs"`
	AppliedMs   Milliseconds `json:"appliedMs"`
	RanMs       Milliseconds `json:"ranMs"`
	RestartedMs Milliseconds `json:"restartedMs"`
}

// Lag says that containers of a resource are behind: their update goes on, while the others have it. Of is how many containers
// can be updated in place.
type Lag struct {
	Behind []Behind `json:"behind"`
	Of     int      `json:"of"`
}

// Behind is a container that is behind: on which files, and since when.
type Behind struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Container string    `json:"container"`
	Files     []string  `json:"files,omitempty"`
	Since     time.Time `json:"since"`
}
