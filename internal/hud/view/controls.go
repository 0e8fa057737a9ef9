package view

import (
	"cmp"
	"strings"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Controls are the settings of a resource that the user can change.
type Controls struct {
	// Disabled resources can only be enabled.
	Disabled bool
	// Deployed is set if something of the resource runs or is applied that disabling it deletes or stops.
	Deployed bool
	Mode     model.TriggerMode
	// Buttons are the resource's buttons.
	Buttons []model.Button
	// Forwards are its port forwards.
	Forwards []Forward
	// Loses names the things that are lost if it is restored; empty if nothing is.
	Loses string
}

// Forward is a port forward of a resource.
type Forward struct {
	Spec model.PortForward
	// URL is the address to open it; empty until it is known. Text is its state in words.
	URL, Text string
	Tone      Tone
}

// ControlsOf returns the controls of a resource; ok is false if there is no such resource. (Tiltfile) is not a resource.
func ControlsOf(v store.View, name model.ManifestName) (c Controls, ok bool) {
	r := state.Resources.In(v).Ref(string(name))
	if r == nil {
		return Controls{}, false
	}
	c = Controls{Disabled: !r.Value.Enabled, Mode: r.Value.Manifest.TriggerMode}
	_, built := state.Updates.In(v).Value(string(name)).Last()
	c.Deployed = built && !c.Disabled
	c.Loses = Lost(state.Drifts.In(v).Value(string(name)))
	c.Buttons = buttons(v, func(p model.ButtonPlace) bool {
		return p.Type == model.ComponentResource && p.Component == string(name)
	})
	if k := r.Value.Manifest.K8s; k != nil {
		c.Forwards = forwardsOf(v, name, k.PortForwards)
	}
	return c, true
}

// forwardsOf returns port forwards of a resource with their states.
func forwardsOf(v store.View, name model.ManifestName, specs []model.PortForward) []Forward {
	var out []Forward
	for _, spec := range specs {
		f := Forward{Spec: spec, Text: "is not open yet", Tone: Warn}
		for e := range state.Forwards.In(v).Refs() {
			is := e.Value
			if is.Resource != name || is.Spec != spec {
				continue
			}
			f.URL = is.URL
			switch is.State {
			case state.ForwardReady:
				f.Text, f.Tone = strings.TrimSuffix("ready, to "+is.Pod, ", to "), Good
			case state.ForwardFailed:
				f.Text, f.Tone = firstLine(is.Err), Bad
			case state.ForwardWaiting:
				f.Text, f.Tone = cmp.Or(firstLine(is.Err), "waits for a pod"), Warn
			}
		}
		out = append(out, f)
	}
	return out
}

// SessionControls are the settings of the session that the user can change.
type SessionControls struct {
	Paused bool
	// Runs counts the evaluations of the Tiltfile, and Ended the updates that have ended: a plan depends on both.
	Runs, Ended int
	// Args are the arguments of the Tiltfile.
	Args []string
	// Buttons are the buttons that belong to no resource.
	Buttons []model.Button
}

// ControlsOfSession returns the controls of the session.
func ControlsOfSession(v store.View) SessionControls {
	ended := 0
	for e := range state.Updates.In(v).Refs() {
		ended += e.Value.Serial
		if e.Value.Current != nil {
			ended--
		}
	}
	return SessionControls{
		Paused:  state.TheSession(v).Paused(),
		Runs:    state.TheTiltfile(v).Runs,
		Ended:   ended,
		Args:    state.TheSession(v).Args,
		Buttons: buttons(v, func(p model.ButtonPlace) bool { return p.Type == model.ComponentGlobal }),
	}
}

// buttons returns the buttons at the places that fit, in the order of the Tiltfile.
func buttons(v store.View, fits func(model.ButtonPlace) bool) []model.Button {
	var out []model.Button
	for _, b := range state.ButtonsInOrder(v) {
		if fits(b.Place) {
			out = append(out, b.Button)
		}
	}
	return out
}
