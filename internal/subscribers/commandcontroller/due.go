package commandcontroller

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// run is one run of a command.
type run struct {
	command state.DeclaredCommand
	// cause is the time of the event that starts it: two runs of a command with one cause are the same run.
	cause time.Time
	// files are the changed files that start it, changed at made; empty if something else does.
	files []string
	made  time.Time
	// click is the newest click of a button of the command; zero without one.
	click state.Click
	// log is the resource whose log it writes to.
	log model.ManifestName
}

// due returns the run that a command should be in now, nil for none. A run for a click is over when it has ended; a command
// that starts on its own stays due, so that it comes back after an absence of this subscriber or the command.
func due(v store.View, c state.DeclaredCommand) *run {
	if state.Off(v, c.Disable) {
		return nil
	}
	r := &run{command: c, cause: c.DeclaredAt, log: c.Log}
	var starts []state.Button
	if c.StartOn != nil {
		starts = named(v, c.StartOn.Buttons)
		if !r.clicked(starts, c.StartOn.After) {
			return nil
		}
	}
	restarts := named(v, c.RestartOn.Buttons)
	r.clicked(restarts, time.Time{})
	for _, name := range c.RestartOn.FileWatches {
		w := state.FileWatches.In(v).Value(name)
		at := w.ChangedAt
		if s := state.TheSession(v); s.Paused() && at.After(s.PausedAt) {
			at = c.Cause // a change waits while the session is paused, and the earlier run continues
		}
		if at.After(r.cause) {
			r.cause, r.files, r.made = at, w.Files, w.Made
		}
	}
	if r.circling() {
		r.cause = c.Cause // the run from before goes on
	}
	if c.StartOn != nil && c.Cause.Equal(r.cause) && c.State != state.CommandRunning {
		return nil
	}
	for _, b := range slices.Concat(starts, restarts) {
		r.log = cmp.Or(r.log, b.Log)
	}
	r.log = cmp.Or(r.log, model.TiltfileName)
	return r
}

func named(v store.View, names []string) []state.Button {
	out := make([]state.Button, len(names))
	for i, name := range names {
		out[i] = state.Buttons.In(v).Value(name)
	}
	return out
}

// clicked takes the clicks of buttons into account, and reports whether there was one since the command was declared and
// after the given time.
func (r *run) clicked(buttons []state.Button, after time.Time) (found bool) {
	for _, b := range buttons {
		at := b.Click.At
		if !at.After(r.command.DeclaredAt) || !at.After(after) {
			continue
		}
		found = true
		if at.After(r.click.At) {
			r.click, r.log = b.Click, cmp.Or(r.command.Log, b.Log)
		}
		if at.After(r.cause) {
			r.cause = at
		}
	}
	return found
}

// same reports whether a process that runs for a also serves b.
func same(a, b run) bool { return a.cause.Equal(b.cause) && a.command.SameWork(b.command.Command) }

// cmd returns the command with the inputs of the click in its environment, where they take precedence.
func (r run) cmd() model.Cmd {
	c := r.command.Cmd
	c.Env = slices.Clone(c.Env)
	for _, in := range slices.Sorted(maps.Keys(r.click.Inputs)) {
		c.Env = append(c.Env, in+"="+r.click.Inputs[in])
	}
	return c
}
