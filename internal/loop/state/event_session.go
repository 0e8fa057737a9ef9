package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func init() {
	store.Follow(Events, Forwards, func(d *store.Draft[Event], was, is *store.Entry[Forward]) {
		switch {
		case is == nil:
			happened(d, EventForwardClosed, was.Value.Resource, was.Value)
		case was == nil || was.Value.State != is.Value.State || was.Value.Pod != is.Value.Pod:
			happened(d, map[ForwardState]EventType{ForwardReady: EventForwardOpen, ForwardWaiting: EventForwardWaiting,
				ForwardFailed: EventForwardFailed}[is.Value.State], is.Value.Resource, is.Value)
		}
	})
	store.Follow(Events, Clusters, func(d *store.Draft[Event], was, is *store.Entry[Cluster]) {
		if is == nil { // it was declared, and is no longer needed
			return
		}
		if was == nil {
			was = &store.Entry[Cluster]{}
		}
		now := Connection{Name: is.Value.Context, Err: is.Value.Err}
		connection(d, EventClusterConnected, EventClusterLost, connected(was.Value.Connected, was.Value.Err), connected(is.Value.Connected, now.Err), now)
	})
	store.Follow(Events, Engines, func(d *store.Draft[Event], was, is *store.Entry[Engine]) {
		if was == nil {
			was = &store.Entry[Engine]{}
		}
		now := Connection{Name: is.Value.Host, Err: is.Value.Err}
		connection(d, EventEngineConnected, EventEngineLost, connected(was.Value.Connected, was.Value.Err), connected(is.Value.Connected, now.Err), now)
	})
	store.Follow(Events, Buttons, func(d *store.Draft[Event], was, is *store.Entry[Button]) {
		if was != nil && is != nil && is.Value.Clicks > was.Value.Clicks {
			happened(d, EventButtonClicked, resourceOf(is.Value.Button), ButtonEvent{is.ID, is.Value.Text, is.Value.Clicks})
		}
	})
	store.Follow(Events, Commands, func(d *store.Draft[Event], was, is *store.Entry[DeclaredCommand]) {
		switch {
		case was == nil || is == nil:
		case is.Value.Runs > was.Value.Runs:
			happened(d, EventCommandStarted, "", is.Value)
		case was.Value.EndedAt.IsZero() && !is.Value.EndedAt.IsZero():
			happened(d, EventCommandFinished, "", is.Value)
		}
	})
	store.Follow(Events, Subscribers, func(d *store.Draft[Event], was, is *store.Entry[Subscriber]) {
		if is == nil || is.Value.Err == "" {
			return
		}
		if was == nil || is.Value.Crashes > was.Value.Crashes {
			happened(d, EventBreakdown, "", Breakdown{is.ID, is.Value.Crashes, is.Value.Err})
		}
	})
}

// connected is 1 if the cluster or engine answers, -1 if it does not, and 0 if it has not been contacted.
func connected(ok bool, err string) int {
	switch {
	case ok:
		return 1
	case err != "":
		return -1
	}
	return 0
}

func connection(d *store.Draft[Event], up, down EventType, was, is int, c Connection) {
	switch {
	case was == is || is == 0:
	case is > 0:
		happened(d, up, "", c)
	default:
		happened(d, down, "", c)
	}
}

// resourceOf returns the resource that a button belongs to, empty if there is none.
func resourceOf(b model.Button) model.ManifestName {
	if b.Place.Type == model.ComponentResource {
		return model.ManifestName(b.Place.Component)
	}
	return b.Log
}
