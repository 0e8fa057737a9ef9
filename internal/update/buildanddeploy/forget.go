package buildanddeploy

import (
	"context"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
)

// Forgetting returns the steps that Forget would take. Objects that a command of the user has deployed are a problem: only that command
// knows them.
func (c *Cluster) Forgetting(ctx context.Context, chosen []deploy.Recorded) ([]api.PlanStep, error) {
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	own, err := forgettable(memory, chosen)
	if err != nil {
		return nil, err
	}
	steps, err := c.applier.Preview(ctx, deploy.PreviewRequest{Project: c.project, Records: own, Removal: deploy.RemovalForgotten})
	if err != nil {
		return nil, err
	}
	for _, r := range chosen {
		is := api.PlanObject{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		if slices.ContainsFunc(steps, func(s api.PlanStep) bool { return s.Object == is }) {
			continue
		}
		why, other := untouched[r.State]
		if !other {
			why = "it does not exist, and hone forgets it"
		}
		steps = append(steps, api.PlanStep{Object: is, Resource: string(r.Resource), Action: api.ActionOrphan, Reason: why})
	}
	return steps, nil
}

// untouched are the states of records that go without a look at the cluster.
var untouched = map[deploy.RecordedState]string{
	deploy.RecordRuns: "hone no longer runs it, and forgets the objects that it deletes",
	deploy.RecordUsed: "it belongs to others, and hone forgets it",
}

// forgettable returns the chosen records of objects that carry the project's marks, by resource.
func forgettable(memory *deploy.Memory, chosen []deploy.Recorded) (ledger.Records, error) {
	all, err := memory.Resources()
	if err != nil {
		return nil, err
	}
	own := ledger.Records{}
	for _, r := range chosen {
		if r.State == deploy.RecordCommanded {
			return nil, problem.New(fmt.Sprintf("%s was deployed by a command of %s, which hone asks to delete it", r.Title(), r.Resource),
				fmt.Sprintf("forget the command with all of its objects: hone forget %s/%s", deploy.CommandWord, r.Resource))
		}
		for _, is := range all[r.Resource] {
			if !is.Foreign && is.ObjectID == r.ID() {
				own[r.Resource] = append(own[r.Resource], is)
			}
		}
	}
	return own, nil
}

// Forget drops objects and commands from the ledger. The objects stay as they are and lose the project's marks; those that are not the
// project's in the cluster are not touched.
func (c *Cluster) Forget(ctx context.Context, chosen []deploy.Recorded, log logstore.Logger) (err error) {
	ctx, done, err := c.hold(patiently(ctx, log), log)
	if err != nil {
		return err
	}
	defer done()
	memory, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	own, err := forgettable(memory, chosen)
	if err != nil {
		return err
	}
	for _, r := range chosen {
		end := memory.Update(r.Resource)
		defer func() { end(ledger.Outcome{Failed: err != nil, Cancelled: ctx.Err() != nil}) }()
	}
	for _, r := range chosen {
		if r.State == deploy.RecordRuns {
			err = memory.LeaveToOthers(r.Resource)
		}
		if r.State == deploy.RecordUsed {
			err = memory.LeaveToOthers(r.Resource, r.ID())
		}
		if err != nil {
			return err
		}
	}
	return c.delete(ctx, memory, DeleteOptions{Removal: deploy.RemovalForgotten}, deploy.DeleteRequest{Logger: log}, own)
}
