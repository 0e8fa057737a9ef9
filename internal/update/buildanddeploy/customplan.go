package buildanddeploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// customRun holds the inputs of a command that deploys: the commands, the files that they are declared to depend on, and the
// images.
type customRun struct {
	Apply, Delete model.Cmd
	Files         string
	Images        map[string]string
}

// runOf returns the inputs of a custom deploy, given its images.
func runOf(ctx context.Context, d *model.CustomDeploy, images map[string]model.ImageResult) (customRun, error) {
	files, err := imagebuild.SumFiles(ctx, d.Watch)
	r := customRun{Apply: d.Apply, Delete: d.Delete, Files: files, Images: map[string]string{}}
	for _, ref := range d.ImageDeps {
		r.Images[ref] = images[ref].Cluster
	}
	return r, err
}

// customPlans is the operation.Runtime of resources that commands deploy, in a plan.
type customPlans struct {
	deleteCommands
	memory    *deploy.Memory
	manifests []model.Manifest
	o         PreviewOptions
}

// Plan implements operation.Runtime. A command runs each time, and its effects are not known; the plan says whether any of its
// inputs is new.
func (c *customPlans) Plan(ctx context.Context, item int) (*api.PlanStep, error) {
	m := c.manifests[item]
	with, err := c.o.forecast(ctx, m)
	if err != nil {
		return nil, err
	}
	run, err := runOf(ctx, m.K8s.CustomDeploy, with.Images)
	if err != nil {
		return nil, err
	}
	before, same, err := c.memory.Ran(m.Name, run)
	step := customStep(m.Name, api.ActionRun, runs(before, same)+"runs "+run.Apply.String())
	step.Changed = !same
	return &step, err
}

// node returns the node of a resource that a command deploys.
func (c *customPlans) node(m model.Manifest) operation.Node {
	c.manifests = append(c.manifests, m)
	return operation.Node{Name: "apply command of " + string(m.Name), Item: len(c.manifests) - 1, Runtime: c, Resource: m.Name}
}

// customStep is a step for a resource that a command deploys.
func customStep(name model.ManifestName, action api.PlanAction, reason string) api.PlanStep {
	return api.PlanStep{Object: api.PlanObject{Kind: api.PlanCustomDeploy, Name: string(name)}, Resource: string(name), Action: action, Reason: reason}
}

// goneCommands returns the steps of an operation for the recorded delete commands of resources that no command deploys now.
func goneCommands(memory *deploy.Memory, records map[model.ManifestName][]ledger.Record, o PreviewOptions, keep string) (steps []api.PlanStep, err error) {
	commands, err := memory.Commands()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		cmd := commands[name]
		at := slices.IndexFunc(o.Declared, func(m model.Manifest) bool { return m.Name == name && m.IsK8s() })
		declared := at >= 0
		runs := "runs " + shown(cmd) + madeByCommand(records[name])
		same := slices.IndexFunc(o.Declared, func(m model.Manifest) bool { return m.Name != name && deletesBy(m, cmd) })
		concerned := !declared && o.Chosen(name)
		if declared {
			concerned = o.Declared[at].CustomDeploy() == nil && o.Affects(o.Declared[at])
		}
		switch {
		case !concerned:
		case declared:
			steps = append(steps, customStep(name, api.ActionDelete, "no command deploys it any more: "+runs))
		case same >= 0:
			steps = append(steps, customStep(name, api.ActionHandOver, fmt.Sprintf("%s has the same delete command now", o.Declared[same].Name)))
		case keep != "":
			steps = append(steps, customStep(name, api.ActionKeep, "no longer declared: "+keep))
		default:
			steps = append(steps, customStep(name, api.ActionDelete, "no longer declared: "+runs))
		}
	}
	return steps, nil
}

// deletesBy reports whether a command also deletes the objects of a resource.
func deletesBy(m model.Manifest, cmd model.Cmd) bool {
	d := m.CustomDeploy()
	return d != nil && sameCommand(d.Delete, cmd)
}

// madeByCommand says which objects a command has deployed, as the end of a sentence.
func madeByCommand(records []ledger.Record) string {
	var names []string
	for _, r := range records {
		if r.Foreign {
			names = append(names, strings.ToLower(r.Kind)+"/"+r.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "\nwhat it has deployed: " + words.List(names, "object")
}
