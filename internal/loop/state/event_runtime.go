package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
)

// PodEvent is a pod at the moment of an event.
type PodEvent struct {
	Namespace, Name string
	// Status is the status for people. Why is why it cannot become ready on its own, empty if it may.
	Status, Why string
	Ready       bool
	Restarts    int
	// Current is set for a pod of the resource's newest deploy.
	Current bool
}

func init() {
	store.Follow(Events, Pods, func(d *store.Draft[Event], was, is *store.Entry[Pod]) {
		if is == nil {
			e, _ := podEvent(was.Value)
			happened(d, EventPodGone, was.Value.Resource, e)
			return
		}
		name := is.Value.Resource
		now, standing := podEvent(is.Value)
		before, stood := PodEvent{}, EventPodPending
		if was == nil {
			happened(d, EventPodCreated, name, now)
		} else {
			before, stood = podEvent(was.Value)
		}
		if standing == stood && (standing != EventPodFailing || before.Status == now.Status) {
			return
		}
		happened(d, standing, name, now)
		if standing == EventPodFailing && stood != EventPodFailing {
			what := "pod "
			if is.Value.OfCompose() {
				what = "container "
			}
			happened(d, EventProblem, name, Problem{Summary: what + now.Name + " does not get ready", Cause: now.Why})
		}
	})
	store.Follow(Events, Restarts, func(d *store.Draft[Event], was, is *store.Entry[Restart]) {
		switch {
		case is == nil:
		case was == nil || was.Value.Serial < is.Value.Serial:
			happened(d, EventRestartRequested, is.Value.Resource, is.Value)
		case was.Value.Running() && !is.Value.Running():
			happened(d, EventRestartFinished, is.Value.Resource, is.Value)
			if is.Value.Err != "" {
				happened(d, EventProblem, is.Value.Resource, ProblemText(is.Value.Err))
			}
		}
	})
	store.Follow(Events, Processes, func(d *store.Draft[Event], was, is *store.Entry[Process]) {
		if is == nil {
			if was.Value.State != ProcessFailed && was.Value.State != ProcessStopped {
				happened(d, EventServerStopped, was.Value.Resource, was.Value)
			}
			return
		}
		before := Process{}
		if was != nil {
			before = was.Value
		}
		serverChanged(d, before, is.Value)
	})
	store.Follow(Events, Synclets, func(d *store.Draft[Event], was, is *store.Entry[Synclet]) {
		if is == nil || !is.Value.Supervised {
			return
		}
		before, now := Synclet{}, is.Value
		if was != nil && was.Value.Supervised {
			before = was.Value
		}
		switch {
		case now.Running && (!before.Running || now.Starts > before.Starts):
			happened(d, EventProgramRunning, now.Resource, now)
		case !now.Running && (before.Running || now.Starts > before.Starts):
			happened(d, EventProgramExited, now.Resource, now)
		}
	})
}

// podEvent returns a pod as events show it, and the type of event for its state.
func podEvent(p Pod) (PodEvent, EventType) {
	e := PodEvent{Namespace: p.Namespace, Name: p.Name, Status: p.Status, Ready: p.Ready, Restarts: p.Restarts(), Current: p.Current}
	why, failing := Trouble(p)
	e.Why = why
	switch {
	case failing:
		return e, EventPodFailing
	case p.Phase == "Succeeded":
		return e, EventPodSucceeded
	case p.Ready:
		return e, EventPodReady
	}
	return e, EventPodPending
}

// serverChanged adds the events for a change of a local resource's server.
func serverChanged(d *store.Draft[Event], before, now Process) {
	runs := now.State == ProcessRunning
	if runs && (before.State != ProcessRunning || before.PID != now.PID) {
		happened(d, EventServerStarted, now.Resource, now)
		before.Ready = false
	}
	switch {
	case runs && now.Ready && !before.Ready:
		happened(d, EventServerReady, now.Resource, now)
	case runs && !now.Ready && before.Ready:
		happened(d, EventServerUnready, now.Resource, now)
	case now.State == before.State:
	case now.State == ProcessStopped:
		happened(d, EventServerStopped, now.Resource, now)
	case now.State == ProcessFailed:
		happened(d, EventServerFailed, now.Resource, now)
		happened(d, EventProblem, now.Resource, ProblemText("the server of "+string(now.Resource)+" has ended: "+now.Err))
	}
}
