package hudtest

import (
	"context"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Others replaces all other subscribers of a session, so that the contracts are complete: it declares that it reads every
// table and emits every action, but does nothing.
type Others struct{}

var _ store.Subscriber = Others{}

// Contract implements store.Subscriber.
func (Others) Contract() store.Contract {
	c := store.Contract{Name: "Others", Doc: "Stands for the rest of the session.", Feedback: "it does nothing"}
	for _, a := range state.Schema.Actions() {
		c.Outputs = append(c.Outputs, store.Output{Action: a, Shared: true})
	}
	for _, t := range store.NewGraph(state.Schema, nil).Tables {
		c.Inputs = append(c.Inputs, store.Input{Table: t.Name})
	}
	return c
}

// Run implements store.Subscriber.
func (Others) Run(ctx context.Context, _ *store.Runtime) error {
	<-ctx.Done()
	return nil
}
