package server

import (
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// commands returns the declared commands as the API shows them.
func commands(v store.View) []api.Command {
	out := []api.Command{}
	for _, c := range state.CommandsInOrder(v) {
		out = append(out, api.Command{Name: c.Name, State: string(c.State), Disabled: state.Off(v, c.Disable), Ready: c.Ready, Runs: c.Runs,
			PID: c.PID, ExitCode: c.ExitCode, Error: c.Err, StartedAt: c.StartedAt, EndedAt: c.EndedAt})
	}
	return out
}
