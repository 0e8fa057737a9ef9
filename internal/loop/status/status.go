package status

import (
	"cmp"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// State is the answer in one word, as scripts see it; the screen shows a glyph for each.
type State string

// The states. A resource that is being updated is Updating, regardless of its last update and its runtime.
const (
	Idle     State = "idle" // disabled, or not started yet
	OK       State = "ok"
	Warning  State = "warning" // ok, with warnings
	Waiting  State = "waiting" // Text or Runtime names the cause
	Updating State = "updating"
	Failed   State = "failed"  // the update, the runtime or a port
	Unknown  State = "unknown" // the cluster or engine does not answer; Runtime has the time and the state before
)

// Well reports whether nothing is wrong, warnings aside.
func (s State) Well() bool { return s == OK || s == Warning }

// Resource describes the state of a resource.
type Resource struct {
	Entry    *store.Entry[state.Resource]
	Manifest *model.Manifest
	Updates  *state.Update
	State    State
	// Text says in words why no update is running: disabled, being removed, waiting, not started. It is empty while an update runs,
	// and if Last says enough.
	Text   string
	Update Update
	// Runtime is the status of the runtime as it is known now, in words for people, and Reported as it was last reported. They
	// differ while the cluster, or the engine, does not answer.
	Runtime, Reported buildcontrol.RuntimeState
	// Last is the newest completed update; nil before the first one, and once its objects were taken down. For a test, it is also nil
	// unless its verdict is about the newest saved files.
	Last *state.Build
	// Hold is why an update that is due does not begin, or why the resource is still there; nil if neither. Starting is set when an
	// update is about to begin.
	Hold     *buildcontrol.Hold
	Starting bool
	// Blocker has failed, and the hold does not end before it is ready; nil if there is none.
	Blocker *Blocker
	// UpdateErr, RuntimeErr and PortErr are the full texts of the errors; empty if there are none.
	UpdateErr, RuntimeErr, PortErr string
	Pods                           Pods
	Ports                          []Port
	Endpoints                      []state.Endpoint
	// Behind are the containers in which an update is still running that the others already have, and Of the number of all
	// containers.
	Behind []state.Sending
	Of     int
	// Drift describes the changes of others, unless an update is running.
	Drift state.Drift
	// Relapse is the container of a crash loop that runs again at the moment; nil if there is none.
	Relapse *Relapse
}

// Relapse is a container that runs again, in a crash loop.
type Relapse struct {
	Pod       state.Pod
	Container model.Container
}

// Err returns the error of the update, else of the runtime, else of a port; empty if there is none.
func (r *Resource) Err() string { return cmp.Or(r.UpdateErr, r.RuntimeErr, r.PortErr) }

// Leaving reports whether the resource is being torn down.
func (r *Resource) Leaving() bool { return r.Entry.Phase == store.TearingDown }

// Tables returns the tables that the answers depend on, except for notices.
func Tables() []store.Input { return states.Inputs() }

// of returns the state of a resource, regardless of the states of the resources that it waits for.
func of(v store.View, u state.Updating) Resource {
	m := &u.Value.Manifest
	r := Resource{Entry: u.Entry, Manifest: m, Updates: u.Update, Update: UpdateOf(v, m, u.Update), Runtime: buildcontrol.RuntimeState{Status: buildcontrol.RuntimeNone}}
	if !u.Value.Enabled {
		r.State, r.Text, r.Reported = Idle, "disabled", r.Runtime
		return r
	}
	pods, forwards := state.PodsOf(v, m.Name), state.ForwardsOf(v, m.Name)
	r.Reported = buildcontrol.Runtime(v, *m, *u.Update, pods)
	r.Runtime = r.Reported
	r.Runtime.Text, _ = Words(r.Reported.Text)
	r.Runtime = buildcontrol.Known(v, *m, r.Runtime)
	r.Pods = podsOf(pods)
	r.Ports = portsOf(v, u.Value, pods, forwards)
	r.Endpoints = state.Endpoints(*m, forwards, state.ServicesOf(v, m.Name), pods)
	r.Behind, r.Of = buildcontrol.LanesOf(m, u.Update, pods).Sending()
	if u.Update.Current == nil {
		r.Drift = state.Drifts.In(v).Value(u.ID)
	}
	r.Relapse = relapse(pods, r.Reported)
	r.lastUpdate()
	r.errors()
	r.waits(v)
	r.Text = r.text()
	r.State = r.state()
	return r
}

// relapse returns the container of a resource that is well for the moment, between the failures of a crash loop.
func relapse(pods []state.Pod, runtime buildcontrol.RuntimeState) *Relapse {
	if runtime.Status != buildcontrol.RuntimeOK && runtime.Status != buildcontrol.RuntimePending {
		return nil
	}
	for _, p := range state.Present(pods) {
		if p.OfCompose() {
			continue
		}
		if c, looping := state.Relapse(p); looping {
			return &Relapse{p, c}
		}
	}
	return nil
}

func (r *Resource) lastUpdate() {
	if last, built := lastOf(r.Update, r.Manifest, r.Updates); built && r.Updates.TakenDown == "" {
		r.Last = &last
	}
}

func (r *Resource) errors() {
	if r.Last != nil {
		r.UpdateErr = r.Last.Err
	}
	if r.Runtime.Status == buildcontrol.RuntimeError {
		r.RuntimeErr = cmp.Or(r.Runtime.Err, r.Runtime.Text, "failed")
	}
	for _, p := range r.Ports {
		if p.State == PortFailed {
			r.PortErr = p.failure()
			return
		}
	}
}

// state returns the first state that applies.
func (r *Resource) state() State {
	for _, s := range []struct {
		is    bool
		state State
	}{
		{r.Updates.Current != nil, Updating},
		{r.Leaving(), Waiting},
		{r.Err() != "", Failed},
		{r.Unknown() && r.Last != nil, Unknown},
		{r.Hold != nil, Waiting},
		{r.Starting, Updating},
		{r.Last == nil, Idle},
		{r.Relapse != nil, Warning},
		{r.Reported.Status.Open(), Waiting},
		{r.warned(), Warning},
		{len(r.Behind) > 0, Warning},
		{len(r.Drift.Objects) > 0, Warning},
	} {
		if s.is {
			return s.state
		}
	}
	return OK
}

// Unknown reports whether the cluster or engine that runs the resource has stopped answering.
func (r *Resource) Unknown() bool {
	return r.Runtime.Status == buildcontrol.RuntimeUnknown && r.Reported.Status != buildcontrol.RuntimeUnknown
}

func (r *Resource) warned() bool { return r.Last != nil && r.Last.Warnings > 0 }
