package view

import (
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// Status is how a resource does, as its glyph shows it.
type Status uint8

// The statuses. A resource that is being updated shows that, whatever the last update and the runtime say; they stay
// visible in their columns.
const (
	Idle     Status = iota // disabled, or not started yet
	Well                   // update and runtime are well
	Warning                // well, with warnings
	Waiting                // the reason stands in Update or Runtime
	Updating               // an update runs
	Failed                 // update or runtime failed
)

// View is everything that the main screen shows.
type View struct {
	Header Header
	// Notices are the troubles that belong to no row: a cluster that does not answer, a part of hone that fails.
	Notices []Span
	// Rows are in the order of the screen: (Tiltfile), then group after group.
	Rows []Row
	// Refresh is how long the view stays true if nothing happens: then an age changes.
	Refresh time.Duration
}

// Header is the first line of the screen.
type Header struct {
	// Project is the name of the folder of the Tiltfile; Target is "context/namespace", empty before it is known.
	Project string
	Target  string
	URL     string
	Counts  Counts
	// Loop is how long the store's last batch took; zero when that is not known.
	Loop time.Duration
	// Ending says that the session has come to its end.
	Ending bool
}

// Counts is how many rows have which status; those with warnings count as well.
type Counts struct{ Well, Updating, Waiting, Failed, Idle int }

// Row is one resource.
type Row struct {
	Name model.ManifestName
	// Group is the label under which the row stands: the first one of the resource, or empty for none.
	Group  string
	Status Status
	// Update says what is happening, else why it waits, else how the last update went. Runtime says how what was deployed
	// does; RuntimeShort the same in a word.
	Update, Runtime, RuntimeShort Cell
	Ports                         []Port
	// Changed is when the newest update ended, now while one runs, zero before the first; Age is that in words.
	Changed time.Time
	Age     string
	// UpdateErr and RuntimeErr are the whole texts of what failed, empty when nothing did.
	UpdateErr, RuntimeErr string
	// Behind is how many containers have an update under way that the others have already.
	Behind int
	// Pod is the name of the newest pod, and Restarts are those of its containers.
	Pod       string
	Restarts  int
	Endpoints []Endpoint
	// Triggerable is set when asking for an update has a meaning.
	Triggerable bool
}

// Err is what failed, the update before the runtime; empty when nothing did.
func (r Row) Err() string {
	if r.UpdateErr != "" {
		return r.UpdateErr
	}
	return r.RuntimeErr
}

// Important is the one of Update and Runtime that matters more: what failed, then what is happening, then what waits.
func (r Row) Important() Cell {
	switch {
	case r.UpdateErr != "" || r.Status == Updating && r.RuntimeErr == "":
		return r.Update
	case r.RuntimeErr != "":
		return r.Runtime
	case r.Status == Waiting, r.Runtime.String() == none.String():
		return r.Update
	}
	return r.Runtime
}

// Port is a local port that leads to the resource.
type Port struct {
	Number int
	State  PortState
	Err    string
}

// PortState is how a forwarded port does.
type PortState uint8

// The states of a port.
const (
	PortWaiting PortState = iota
	PortReady
	PortFailed
)

// Endpoint is an address that the user can open.
type Endpoint struct {
	URL  string
	Name string
}
