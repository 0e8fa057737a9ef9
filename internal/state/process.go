package state

import (
	"time"

	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Process is an entry of table processes, the server of a local resource; its id is the resource's name.
type Process struct {
	Resource model.ManifestName
	PID      int
	// State is starting, running, failed or stopped.
	State     ProcessState
	Ready     bool
	ExitCode  int
	Err       string
	StartedAt time.Time
	// Build is the serial of the build after which it was started.
	Build int
}

// ProcessState is how a server does.
type ProcessState string

// The states of a server.
const (
	ProcessStarting ProcessState = "starting"
	ProcessRunning  ProcessState = "running"
	ProcessFailed   ProcessState = "failed"
	ProcessStopped  ProcessState = "stopped"
)

// ProcessChanged says how a server does now.
type ProcessChanged struct{ Process Process }

// ProcessGone says that a server is no longer wanted and has ended.
type ProcessGone struct{ Resource model.ManifestName }

func init() {
	store.On(Processes, func(d *store.Draft[Process], a ProcessChanged) {
		id := string(a.Process.Resource)
		if was, ok := d.Get(id); !ok || was.Value != a.Process {
			d.Put(id, a.Process)
		}
	})
	store.On(Processes, func(d *store.Draft[Process], a ProcessGone) { d.Delete(string(a.Resource)) })
}
