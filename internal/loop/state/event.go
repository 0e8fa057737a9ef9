package state

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// KeptEvents is the number of the newest events that the table keeps. While a session of 1,000 resources starts, it makes about
// four for each resource.
const KeptEvents = 4096

// keptFiles is the most files that an event names.
const keptFiles = 20

// Event is an entry of table events: something that happened. Its id is its number, its time the time of its creation. Entries
// are written as other tables change, so that events which no snapshot shows are recorded as well.
type Event struct {
	Type EventType
	// Resource is the resource concerned; empty for the session as a whole.
	Resource model.ManifestName
	// What holds the details: a Session, TiltfileRun, SettledFiles, Build, model.ContainerUpdate, Readiness, HoldChange,
	// Restart, PodEvent, ImagePulled, Process, Synclet, Forward, Connection, ButtonEvent, DeclaredCommand, Breakdown, RequestMade or Problem, depending on the
	// type; nil for a type without details.
	What any
}

// EventType is the kind of an event.
type EventType string

// The types of events, with the type of their details.
const (
	EventSessionStarted    EventType = "session-started"     // Session
	EventSessionEnded      EventType = "session-ended"       // Session
	EventSessionPaused     EventType = "session-paused"      // Session
	EventSessionResumed    EventType = "session-resumed"     // Session
	EventTiltfileStarted   EventType = "tiltfile-started"    // TiltfileRun
	EventTiltfileLoaded    EventType = "tiltfile-loaded"     // TiltfileRun
	EventTiltfileFailed    EventType = "tiltfile-failed"     // TiltfileRun
	EventFilesChanged      EventType = "files-changed"       // SettledFiles
	EventTriggered         EventType = "resource-triggered"  // nothing
	EventEnabled           EventType = "resource-enabled"    // nothing
	EventDisabled          EventType = "resource-disabled"   // nothing
	EventReady             EventType = "resource-ready"      // Readiness
	EventHoldChanged       EventType = "hold-changed"        // HoldChange
	EventUpdateStarted     EventType = "update-started"      // Build
	EventUpdateFinished    EventType = "update-finished"     // Build
	EventContainerCaughtUp EventType = "container-caught-up" // model.ContainerUpdate
	EventRestartRequested  EventType = "restart-requested"   // Restart
	EventRestartFinished   EventType = "restart-finished"    // Restart
	EventPodCreated        EventType = "pod-created"         // PodEvent
	EventPodPending        EventType = "pod-pending"         // PodEvent
	EventPodReady          EventType = "pod-ready"           // PodEvent
	EventPodSucceeded      EventType = "pod-succeeded"       // PodEvent
	EventPodFailing        EventType = "pod-failing"         // PodEvent
	EventPodGone           EventType = "pod-gone"            // PodEvent
	EventImagePulled       EventType = "image-pulled"        // ImagePulled
	EventProgramRunning    EventType = "program-running"     // Synclet
	EventProgramExited     EventType = "program-exited"      // Synclet
	EventServerStarted     EventType = "server-started"      // Process
	EventServerReady       EventType = "server-ready"        // Process
	EventServerUnready     EventType = "server-unready"      // Process
	EventServerFailed      EventType = "server-failed"       // Process
	EventServerStopped     EventType = "server-stopped"      // Process
	EventForwardOpen       EventType = "forward-open"        // Forward
	EventForwardWaiting    EventType = "forward-waiting"     // Forward
	EventForwardFailed     EventType = "forward-failed"      // Forward
	EventForwardClosed     EventType = "forward-closed"      // Forward
	EventClusterConnected  EventType = "cluster-connected"   // Connection
	EventClusterLost       EventType = "cluster-lost"        // Connection
	EventEngineConnected   EventType = "engine-connected"    // Connection
	EventEngineLost        EventType = "engine-lost"         // Connection
	EventButtonClicked     EventType = "button-clicked"      // ButtonEvent
	EventCommandStarted    EventType = "command-started"     // DeclaredCommand
	EventCommandFinished   EventType = "command-finished"    // DeclaredCommand
	EventBreakdown         EventType = "controller-failed"   // Breakdown
	EventRequestMade       EventType = "request-made"        // RequestMade
	EventProblem           EventType = "problem"             // Problem
)

// SettledFiles are files that have changed.
type SettledFiles struct {
	// Files are the first files, absolute, sorted; Total is the number of all.
	Files []string
	Total int
	// Watch names the file watch that they belong to, if they belong to no resource.
	Watch string
}

// Readiness reports that a resource is up to date and ready for the first time.
type Readiness struct {
	// After is the time since it was declared.
	After time.Duration
}

// HoldChange reports that a resource begins to wait, waits for something else, or waits no longer.
type HoldChange struct {
	Resource model.ManifestName
	// Reason is why it waits, Text the reason in words, and On the resources that it waits for; empty when it no longer
	// waits.
	Reason, Text string
	On           []model.ManifestName
	// Was is the previous reason, and For the time for which it held; empty if it did not wait.
	Was string
	For time.Duration
}

// HoldsChanged reports which updates have begun or ceased to wait. A change of the resources that block an update is not
// reported, unless the update waits for them to be ready.
type HoldsChanged struct{ Changes []HoldChange }

// Connection is the state of the connection to the cluster or the container engine.
type Connection struct {
	// Name is the context of the cluster, or the host of the engine.
	Name string
	Err  string
}

// ButtonEvent is the newest click of a button, with the number of clicks. The inputs of the click are private and left out.
type ButtonEvent struct {
	Name, Text string
	Clicks     int
}

// Breakdown reports that a part of hone has failed and will be started again.
type Breakdown struct {
	Name    string
	Crashes int
	Err     string
}

// RequestMade reports a request over the session's API that changes something. It is dispatched with the request's other actions.
type RequestMade struct {
	// By is the name of a token, "page" for the web page, or "owner".
	By string
	// Request is the last part of the request's path, such as trigger, or the method and the path of an object.
	Request   string
	Resources []model.ManifestName
}

// ImagePulled reports that a node has pulled an image for a pod of a resource.
type ImagePulled struct {
	Resource   model.ManifestName
	Pod, Image string
	Took       time.Duration
}

func init() {
	store.On(Events, func(d *store.Draft[Event], a ImagePulled) { happened(d, EventImagePulled, a.Resource, a) })
	store.On(Events, func(d *store.Draft[Event], a RequestMade) {
		var resource model.ManifestName
		if len(a.Resources) == 1 {
			resource = a.Resources[0]
		}
		happened(d, EventRequestMade, resource, a)
	})
	store.On(Events, func(d *store.Draft[Event], a HoldsChanged) {
		for _, c := range a.Changes {
			happened(d, EventHoldChanged, c.Resource, c)
		}
	})
}

// happened adds an event.
func happened(d *store.Draft[Event], t EventType, resource model.ManifestName, what any) {
	seq := EventSeq(d.Last()) + 1
	if kept := uint64(d.Len()); kept >= KeptEvents {
		d.Delete(EventID(seq - kept))
	}
	d.Put(EventID(seq), Event{t, resource, what})
}

// EventID is the id of the entry of an event. Ids are in the order of the numbers.
func EventID(seq uint64) string {
	const width = 12
	id := strconv.FormatUint(seq, 10)
	if len(id) < width {
		return "000000000000"[len(id):] + id
	}
	return fmt.Sprintf("%012d", seq)
}

// EventSeq is the number of an event, by the id of its entry. Numbers begin with 1 and have no gaps.
func EventSeq(id string) uint64 {
	seq, _ := strconv.ParseUint(id, 10, 64)
	return seq
}

// NewestEvent returns the number of the newest event, 0 when nothing has happened yet.
func NewestEvent(v store.View) uint64 {
	if _, last := Events.In(v).Ends(); last != nil {
		return EventSeq(last.ID)
	}
	return 0
}
