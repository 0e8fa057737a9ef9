package state

import (
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Process is an entry of table processes, the server of a local resource; its id is the resource's name.
type Process struct {
	Resource model.ManifestName
	PID      int
	// State is starting, running, stopping, failed or stopped.
	State ProcessState
	Ready bool
	// Detail is why a running server is not ready, as far as its probe knows.
	Detail string
	// FailingSince is the time at which its probe began to fail; zero if it does not fail, and once the server is ready again.
	// WasReady is set once the server has been ready.
	FailingSince time.Time
	WasReady     bool
	// ExitCode is the exit code of a server that has failed, -1 for one that could not be started. Err is the failure in words.
	ExitCode  int
	Err       string
	StartedAt time.Time
	// Build is the serial of the build after which it was started, and Restart the serial of the user's newest restart before.
	Build, Restart int
}

// ProcessState is the state of a server.
type ProcessState string

// The states of a server.
const (
	ProcessStarting ProcessState = "starting"
	ProcessRunning  ProcessState = "running"
	ProcessStopping ProcessState = "stopping" // asked to end, which may take a while
	ProcessFailed   ProcessState = "failed"
	ProcessStopped  ProcessState = "stopped"
)

// ProcessChanged reports the new state of a server.
type ProcessChanged struct{ Process Process }

// ProcessGone reports that a server is no longer needed and has ended.
type ProcessGone struct{ Resource model.ManifestName }

// ServeSpan is the log span of the server that a build has started.
func ServeSpan(resource model.ManifestName, build int) string {
	return fmt.Sprintf("serve:%s:%d", resource, build)
}

func init() {
	store.On(Processes, func(d *store.Draft[Process], a ProcessChanged) {
		id := string(a.Process.Resource)
		if was := d.Ref(id); was == nil || was.Value != a.Process {
			d.Put(id, a.Process)
		}
	})
	store.On(Processes, func(d *store.Draft[Process], a ProcessGone) { d.Delete(string(a.Resource)) })
}
