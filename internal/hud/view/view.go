package view

import (
	"cmp"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// Status is the status of a resource, as shown by its glyph.
type Status = status.State

// The statuses.
const (
	Idle     = status.Idle
	Well     = status.OK
	Warning  = status.Warning
	Waiting  = status.Waiting
	Updating = status.Updating
	Failed   = status.Failed
	Unknown  = status.Unknown
)

// View is everything that the main screen shows.
type View struct {
	Header Header
	// Notices are problems that belong to no row: a cluster that does not respond, a component of hone that fails. The worst
	// comes first.
	Notices []Notice
	// Rows are in the order of the screen: (Tiltfile), then group after group.
	Rows []Row
	// Cards explain the failures of the rows, causes first.
	Cards []Card
	// Refresh is the time for which the view stays valid if nothing happens; then an age changes.
	Refresh time.Duration
}

// Header is the first line of the screen.
type Header struct {
	// Project is the name of the folder of the Tiltfile; Target is "context/namespace", empty before it is known.
	Project string
	Target  string
	// Box is the machine of a session that was reached by ssh, as its address names it; empty for a session nearby.
	Box string
	// Clusters are the clusters of a session that works on several, its own first; empty for any other session.
	Clusters []Cluster
	Counts   Counts
	// Loop is the duration of the store's last batch; zero if unknown.
	Loop time.Duration
	// Ending is set once the session has ended.
	Ending bool
}

// Counts is the number of rows for each status. Rows with warnings count as Well.
type Counts struct{ Well, Updating, Waiting, Failed, Unknown, Idle int }

// Row is one resource.
type Row struct {
	Name model.ManifestName
	// Group is the label under which the row is shown: the first label of the resource, or empty for none.
	Group string
	// Cluster is the name of its cluster, in a session that works on several; empty for a row that belongs to none.
	Cluster string
	Status  Status
	// Update shows the running update, else why the resource waits, else the result of the last update. Runtime shows the
	// status of the runtime, and RuntimeShort the same in one word.
	Update, Runtime, RuntimeShort Cell
	Ports                         []Port
	// Changed is the end of the newest update: the current time while one runs, zero before the first. Age is the time since then in
	// words.
	Changed time.Time
	Age     string
	// UpdateErr, RuntimeErr and PortErr are the full texts of the errors; empty if there are none.
	UpdateErr, RuntimeErr, PortErr string
	// Behind is the number of containers in which an update is still running that the others already have.
	Behind int
	// Drift marks a resource whose objects others have changed: "≠ changed by kubectl-edit"; empty if there are none. It is the
	// beginning of Update.
	Drift string
	// Pod is the name of the newest pod, or of a failing one; Pods is the number of pods of the newest deploy, and Restarts the
	// number of restarts of their containers.
	Pod            string
	Pods, Restarts int
	Endpoints      []Endpoint
	// Silent is the time, in whole minutes, for which a program that used to write has been silent; 0 if it is not. The view knows
	// no logs: the code that shows it fills it in.
	Silent time.Duration
	// Test marks a test, and Cached a verdict of an earlier run with the same inputs.
	Test, Cached bool
}

// Unseen is the part of a resource's log that the user has not seen.
type Unseen uint8

// The unseen parts: nothing, lines after a pause, errors.
const (
	UnseenNone Unseen = iota
	UnseenLines
	UnseenErrors
)

// Settled reports whether no update runs for the row, and none waits.
func (r Row) Settled() bool { return r.Status != Updating && r.Status != Waiting }

// Err returns the error of the update, else of the runtime, else of a port; empty if there is none.
func (r Row) Err() string { return cmp.Or(r.UpdateErr, r.RuntimeErr, r.PortErr) }

// Important returns the more important cell of Update and Runtime: a failure, then activity, then waiting.
func (r Row) Important() Cell {
	switch {
	case r.UpdateErr != "" || r.Status == Updating && r.RuntimeErr == "":
		return r.Update
	case r.RuntimeErr != "":
		return r.Runtime
	case r.PortErr != "" && r.Status == Failed:
		return Cell{{firstLine(r.PortErr), Bad}}
	case r.Status == Unknown:
		return r.Runtime
	case r.Drift != "" && r.Status == Warning:
		return r.Update
	case r.Runtime.String() == none.String(), r.Status == Waiting && len(r.Update) > 0 && r.Update[0].Tone != Plain: // rather than the result of its last update
		return r.Update
	}
	return r.withSilence(r.Runtime)
}

// Port is a port of this machine that leads to the resource.
type Port = status.Port

// Endpoint is an address that the user can open.
type Endpoint = state.Endpoint
