package buildanddeploy

import (
	"context"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// command is a local resource in an operation; it makes no objects.
type command struct {
	manifest model.Manifest
	// run runs its cmd; nil in an operation that runs none.
	run func(ctx context.Context) error
	log logstore.Logger
	// undo takes it down; nil runs the recorded down command.
	undo func(ctx context.Context, log logstore.Logger) error
}

// commands is the operation.Runtime of local resources. To apply one is to run its command, to delete it is to run the down command
// that was recorded before.
type commands struct {
	downCommands *DownCommands // nil records nothing
	items        []command
	// declared is all that the Tiltfile declares, env the environment of the commands.
	declared func() []model.Manifest
	env      []string
}

var _ operation.Runtime = (*commands)(nil)

// Plan implements operation.Runtime. A command runs each time, and its effects are not known; the plan says whether the command is
// new.
func (c *commands) Plan(_ context.Context, item int) (*api.PlanStep, error) {
	m := c.items[item].manifest
	var does []string
	if cmd := m.Local.Update; !cmd.Empty() {
		does = append(does, "runs "+cmd.String())
	}
	if cmd := m.Local.Serve; !cmd.Empty() {
		does = append(does, "serves "+cmd.String())
	}
	step := localStep(m.Name, api.ActionRun, strings.Join(does, "\n"))
	if c.downCommands == nil {
		return &step, nil
	}
	records, err := c.downCommands.Ledger()
	if err != nil {
		return nil, err
	}
	before, same, err := records.Ran(m.Name, m.Local.Update, m.Local.Serve)
	step.Changed, step.Reason = !same, runs(before, same)+step.Reason
	return &step, err
}

// runs says whether a command is new, before the text that it runs; empty if the same ran last.
func runs(before, same bool) string {
	switch {
	case same:
		return ""
	case before:
		return "changed since it last ran: "
	}
	return "for the first time: "
}

// Record implements operation.Runtime.
func (c *commands) Record(_ context.Context, items []int) error {
	if c.downCommands == nil {
		return nil
	}
	var declared []model.Manifest
	if c.declared != nil {
		declared = c.declared()
	}
	for _, i := range items {
		if err := c.downCommands.Record(c.items[i].manifest, declared, c.env); err != nil {
			return err
		}
	}
	return nil
}

// Apply implements operation.Runtime.
func (c *commands) Apply(ctx context.Context, item int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.items[item].run(ctx); err != nil || c.downCommands == nil {
		return err
	}
	records, err := c.downCommands.Ledger()
	if err != nil {
		return err
	}
	m := c.items[item].manifest
	return records.SetRan(m.Name, m.Local.Update, m.Local.Serve)
}

// Delete implements operation.Runtime.
func (c *commands) Delete(ctx context.Context, item int) error {
	at := c.items[item]
	defer logstore.Flush(at.log)
	if at.undo != nil {
		return at.undo(ctx, at.log)
	}
	return c.downCommands.Run(ctx, at.manifest.Name, at.log)
}

// Await implements operation.Runtime: the commands have ended.
func (*commands) Await(ctx context.Context, _ int, _ operation.State) error {
	return context.Cause(ctx)
}
