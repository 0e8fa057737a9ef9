package status

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Pods sums up the pods that describe the resource now.
type Pods struct {
	// Name is the name of the pod that Shown returns.
	Name                   string
	Count, Ready, Restarts int
}

func podsOf(pods []state.Pod) (n Pods) {
	shown, _ := Shown(pods)
	n.Name = shown.Name
	for _, p := range state.Present(pods) {
		n.Count++
		n.Restarts += p.Restarts()
		if p.Ready {
			n.Ready++
		}
	}
	return n
}

// Shown returns the pod that represents the pods of a resource: among the pods that describe it now a failing one, else the
// newest. If none does, it is the newest of all.
func Shown(pods []state.Pod) (shown state.Pod, ok bool) {
	of := state.Present(pods)
	if len(of) == 0 {
		of = pods
	}
	if len(of) == 0 {
		return shown, false
	}
	i := slices.IndexFunc(of, func(p state.Pod) bool { _, fails := state.PodFailure(p.Pod); return fails })
	return of[max(i, 0)], true
}

// Port is a port of this machine that leads to a resource.
type Port struct {
	Number int
	// Name is given by the Tiltfile or the Compose file; it may be empty.
	Name string
	// Address is the local address that it listens on, URL the address for people, and Pod the target of new connections; each may
	// be empty.
	Address, URL, Pod string
	// Added is set if the user added it while the session runs.
	Added bool
	State PortState
	// Err is why it does not work, or the thing that it waits for; empty if it is ready.
	Err string
}

func (p Port) failure() string {
	return fmt.Sprintf("port %d: %s", p.Number, cmp.Or(p.Err, "failed"))
}

// PortState is the state of a port, as scripts see it.
type PortState string

// The states of a port.
const (
	PortWaiting PortState = "waiting"
	PortReady   PortState = "ready"
	PortFailed  PortState = "failed"
	PortUnknown PortState = "unknown" // the cluster or the engine behind it does not answer
)

// portsOf returns the ports of a resource, by number.
func portsOf(v store.View, r state.Resource, pods []state.Pod, forwards []state.Forward) []Port {
	var out []Port
	_, away := buildcontrol.Away(v, r.Manifest)
	ready := slices.ContainsFunc(pods, func(p state.Pod) bool { return p.Stands() && p.Ready })
	for _, p := range state.Published(r.Manifest, pods) {
		port := Port{Number: p.Published, Name: p.Name, URL: p.URL(), State: PortWaiting}
		switch {
		case away:
			port.State = PortUnknown
		case ready:
			port.State = PortReady
		}
		out = append(out, port)
	}
	for _, f := range forwards {
		out = append(out, Port{Number: f.Spec.LocalPort, Name: f.Spec.Name, Address: f.Spec.Address(), URL: f.URL, Pod: f.Pod, Added: r.AddedForward(f.Spec),
			State: portState(f, pods, away), Err: f.Err})
	}
	slices.SortStableFunc(out, func(a, b Port) int { return a.Number - b.Number })
	return out
}

func portState(f state.Forward, pods []state.Pod, away bool) PortState {
	switch {
	case away && (f.State == state.ForwardReady || f.Pod != ""):
		return PortUnknown
	case f.Fails(pods):
		return PortFailed
	case f.State == state.ForwardReady:
		return PortReady
	}
	return PortWaiting
}
