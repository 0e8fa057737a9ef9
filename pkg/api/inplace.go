package api

import "time"

// Milliseconds is a duration in milliseconds.
type Milliseconds float64

// Duration returns the duration.
func (m Milliseconds) Duration() time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond))
}

// ContainerUpdate is the result of an in-place update of one container. Mode is synclet, container or exec. Behind means that
// the update of this container is still running and that its result is not known yet.
type ContainerUpdate struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	ID        string `json:"id"`
	Mode      string `json:"mode,omitempty"`
	// Files is the number of files copied, Deletes the number of files deleted, and Same the number of files that needed
	// neither. Bytes is the size of the copied files.
	Files   int          `json:"files"`
	Deletes int          `json:"deletes"`
	Same    int          `json:"same"`
	Bytes   int64        `json:"bytes"`
	TotalMs Milliseconds `json:"totalMs"`
	Stages  Stages       `json:"stages"`
	Error   string       `json:"error,omitempty"`
	Behind  bool         `json:"behind,omitempty"`
}

// Stages are the durations of the stages of an in-place update. Each stage begins where the previous one ended: noticed lasts
// from the save until hone noticed it, waited until the update of the container began, sent until the last byte was sent,
// applied until the container acknowledged that the files are in place, ran until the commands had ended, restarted until the
// new process was running. A stage that did not take place is zero: where an update goes through exec or a container engine,
// sending and applying are one stage.
type Stages struct {
	NoticedMs   Milliseconds `json:"noticedMs"`
	WaitedMs    Milliseconds `json:"waitedMs"`
	SentMs      Milliseconds `json:"sentMs"`
	AppliedMs   Milliseconds `json:"appliedMs"`
	RanMs       Milliseconds `json:"ranMs"`
	RestartedMs Milliseconds `json:"restartedMs"`
}

// Lag lists the containers of a resource that are behind: their update is still running, while the other containers are up to
// date. Of is the number of containers that can be updated in place.
type Lag struct {
	Behind []Behind `json:"behind"`
	Of     int      `json:"of"`
}

// Behind is a container that is behind. Files are the files that it does not have yet, and Since is the time since when it is
// behind.
type Behind struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Container string    `json:"container"`
	Files     []string  `json:"files,omitempty"`
	Since     time.Time `json:"since"`
}
