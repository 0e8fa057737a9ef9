package buildanddeploy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// PreviewOptions define the scope of a preview.
type PreviewOptions struct {
	// Declared are all resources of the Tiltfile, and Chosen reports which of them the operation deploys.
	Declared []model.Manifest
	Chosen   func(model.ManifestName) bool
	// Updates reports whether the operation updates a chosen resource that is declared; nil updates those that are deployed automatically.
	Updates func(model.Manifest) bool
	// Forecast returns the images and the synclet that a resource is deployed with; nil knows no image before its build.
	Forecast func(context.Context, model.Manifest) (Forecast, error)
	// Namespace is for namespaced objects that have none.
	Namespace string
	// Adopt lets the operation take over objects that hone did not create.
	Adopt bool
	// Prune says which objects that are no longer declared the operation may delete, and Removal why.
	Prune   Prune
	Removal deploy.Removal
	// Others names the other running sessions of the project; empty if there are none. Objects that these may need stay.
	Others string
	// Beside are the nodes of other runtimes than the cluster's, of any resources.
	Beside []operation.Node
	// Unready, unless nil, is called for each declared object that exists and is not ready. Several goroutines call it.
	Unready func(model.ObjectID)
}

// Preview returns the changes that deploying the chosen resources would make to the objects in the cluster, with images that are
// known only after their build. It writes nothing, neither to the cluster nor to the ledger. For a resource that a command of the
// user deploys, it only returns that the command runs: its effects are not known before.
func (c *Cluster) Preview(ctx context.Context, o PreviewOptions) ([]api.PlanStep, error) {
	memory, records, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	known := map[model.ManifestName]bool{}
	custom := &customPlans{memory: memory, o: o}
	req := deploy.PreviewRequest{Project: c.project, Namespace: o.Namespace, Adopt: o.Adopt, Removal: o.Removal, Unready: o.Unready, Prior: memory.Remembered, Accepted: memory.Accepted, Records: map[model.ManifestName][]ledger.Record{}}
	for _, m := range o.Declared {
		known[m.Name] = m.IsK8s()
		if !o.Affects(m) {
			continue
		}
		d := deploy.Declared{Resource: m.Name, After: m.ResourceDeps, Beside: o.beside(m.Name)}
		if m.K8s != nil {
			req.Records[m.Name] = records[m.Name]
		}
		byCommands := m.CustomDeploy() != nil
		if byCommands {
			d.Beside = append(d.Beside, custom.node(m))
		}
		if !m.IsK8s() || byCommands {
			req.Declared = append(req.Declared, d) // others may come after it
			continue
		}
		with, err := o.forecast(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		d.Again = with.Again
		err = k8s.Persist(ctx, func() (err error) {
			d.Objects, err = deploy.Inject(deploy.InjectRequest{Resource: m.Name, Project: c.project, Holder: c.holder, ApplySet: memory.ApplySet(), Namespace: o.Namespace, Target: *m.K8s,
				Images: m.Images, Results: with.Images, Synclet: with.Synclet}, c.mapper)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		req.Declared = append(req.Declared, d)
	}
	for name, list := range records {
		if !known[name] && o.Chosen(name) {
			req.Records[name] = list
		}
	}
	if req.RunID = c.ownRun(ctx); req.RunID == "" && o.Others != "" {
		req.RunID = "none" // no session: the one that is about to begin has deployed nothing
	}
	declared := func() []model.Manifest { return o.Declared }
	req.Elsewhere = c.owner(ctx, declared, "", o.Namespace)
	steps, err := c.applier.Preview(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := c.sayWaits(ctx, memory, o, known, steps); err != nil {
		return nil, err
	}
	why := o.Prune.keeps(ctx, c, memory, declared, o.Chosen, o.Namespace)
	if why != "" {
		for i, s := range steps {
			if s.Action == api.ActionDelete || s.Action == api.ActionOrphan {
				steps[i].Action, steps[i].Reason = api.ActionKeep, s.Reason+": "+why
			}
		}
	}
	for i, s := range steps {
		at := slices.IndexFunc(custom.manifests, func(m model.Manifest) bool { return string(m.Name) == s.Resource })
		if at >= 0 && s.Action == api.ActionDelete {
			steps[i].Reason += ", unless its command deploys it"
		}
	}
	gone, err := goneCommands(memory, records, o, cmp.Or(why, o.othersText()))
	return append(steps, gone...), err
}

// Affects reports whether the operation updates a declared resource.
func (o PreviewOptions) Affects(m model.Manifest) bool {
	if o.Updates != nil {
		return o.Chosen(m.Name) && o.Updates(m)
	}
	return o.Chosen(m.Name) && m.AutoInit
}

// othersText says why something stays while other sessions of the project run; empty if there are none.
func (o PreviewOptions) othersText() string {
	if o.Others == "" {
		return ""
	}
	return o.Others + " also works on this project, and may need it"
}

func (o PreviewOptions) forecast(ctx context.Context, m model.Manifest) (Forecast, error) {
	if o.Forecast == nil || len(m.Images) == 0 {
		return unbuilt(m), nil
	}
	return o.Forecast(ctx, m)
}

// beside returns the nodes of a resource.
func (o PreviewOptions) beside(name model.ManifestName) (out []operation.Node) {
	for _, n := range o.Beside {
		if n.Resource == name {
			out = append(out, n)
		}
	}
	return out
}

// PreviewBeside is Preview for a project that uses no cluster.
func PreviewBeside(ctx context.Context, o PreviewOptions) ([]api.PlanStep, error) {
	deps := map[model.ManifestName][]model.ManifestName{}
	for _, m := range o.Declared {
		deps[m.Name] = m.ResourceDeps
	}
	order := model.DependentsFirst(deps)
	nodes := slices.SortedStableFunc(slices.Values(o.Beside), func(a, b operation.Node) int {
		return slices.Index(order, b.Resource) - slices.Index(order, a.Resource)
	})
	op, err := operation.New(nodes)
	if err != nil {
		return nil, err
	}
	return op.Plan(ctx, plannedAtOnce)
}

// plannedAtOnce is the number of nodes that are planned at a time if nothing else limits it.
const plannedAtOnce = 10

// sayWaits adds to the deletions of a plan the workloads that they wait for: those that take the place of the deleted ones.
func (c *Cluster) sayWaits(ctx context.Context, memory *deploy.Memory, o PreviewOptions, known map[model.ManifestName]bool, steps []api.PlanStep) error {
	wait := map[string]string{}
	for _, s := range steps {
		name := model.ManifestName(s.Resource)
		if _, done := wait[s.Resource]; done || s.Action != api.ActionDelete {
			continue
		}
		if !known[name] {
			next, err := c.replacements(ctx, memory, RemoveRequest{Resource: name, Undeclared: true, Namespace: o.Namespace, Declared: func() []model.Manifest { return o.Declared }})
			if err != nil {
				return err
			}
			wait[s.Resource] = replacementNames(next)
		}
	}
	for _, s := range steps { // within a resource, all deletions wait if one of the objects serves
		if id := planID(s.Object); s.Action == api.ActionDelete && known[model.ManifestName(s.Resource)] && id.Serves() {
			wait[s.Resource] = c.workloadNames(ctx, o, s.Resource)
		}
	}
	for i, s := range steps {
		if names := wait[s.Resource]; names != "" && s.Action == api.ActionDelete {
			steps[i].Reason = s.Reason + "; it stays until there is a replacement that is ready: " + names
		}
	}
	return nil
}

func planID(o api.PlanObject) model.ObjectID {
	return model.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

func replacementNames(list []replacement) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = strings.ToLower(s.id.Kind) + "/" + s.id.Name
	}
	return strings.Join(names, ", ")
}

// workloadNames lists the declared workloads of a resource.
func (c *Cluster) workloadNames(ctx context.Context, o PreviewOptions, resource string) string {
	var list []replacement
	for _, m := range o.Declared {
		if string(m.Name) != resource || m.K8s == nil {
			continue
		}
		for _, r := range c.Objects(ctx, m, o.Namespace) {
			if r.ObjectID.Serves() {
				list = append(list, replacement{m.Name, r.ObjectID})
			}
		}
	}
	return replacementNames(list)
}

// Secrets returns the values of the Secrets that the project has applied, as they are in the cluster.
func (c *Cluster) Secrets(ctx context.Context) (out []model.Secret, err error) {
	_, records, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(records)) {
		more, err := c.applier.Secrets(ctx, records[name], askTimeout)
		if err != nil {
			return nil, fmt.Errorf("read the Secrets of %s, whose values are not shown: %w", name, err)
		}
		out = append(out, more...)
	}
	model.NameSecrets(out, recordedNames(records))
	return out, nil
}

// recordedNames are the names of recorded resources and of their objects.
func recordedNames(records map[model.ManifestName][]ledger.Record) map[string]bool {
	names := map[string]bool{}
	for resource, objects := range records {
		names[string(resource)] = true
		for _, o := range objects {
			names[o.Name], names[o.Namespace] = true, true
		}
	}
	return names
}

// Drift compares the objects of the chosen resources in the cluster with the last apply of each, and returns the differences; nil
// chooses all. It needs no Tiltfile, and writes nothing. unknown are the objects whose last apply is not known: an earlier version
// of hone made it, or its record is lost.
func (c *Cluster) Drift(ctx context.Context, chosen []model.ManifestName) (steps []api.PlanStep, unknown []model.ObjectID, err error) {
	memory, records, err := c.recorded(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range chosen {
		if _, ok := records[name]; !ok {
			return nil, nil, problem.New(fmt.Sprintf("nothing is recorded for resource %q", name), "the records have: "+resourceNames(records))
		}
	}
	return c.drift(ctx, memory, records, func(name model.ManifestName, _ model.ObjectID) bool {
		return chosen == nil || slices.Contains(chosen, name)
	})
}

// Differences is Drift for some objects of one resource. Objects that are not recorded, or whose last apply is not known, are left out.
func (c *Cluster) Differences(ctx context.Context, resource model.ManifestName, objects []model.ObjectID) ([]api.PlanStep, error) {
	memory, records, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	steps, _, err := c.drift(ctx, memory, records, func(name model.ManifestName, id model.ObjectID) bool {
		return name == resource && slices.Contains(objects, id)
	})
	return steps, err
}

// Accept leaves fields of a resource's objects, named by their paths in a plan, as others have changed them, until their declared
// values change or the objects are created again. It returns the objects and paths that are accepted now, which are only declared
// ones.
func (c *Cluster) Accept(ctx context.Context, resource model.ManifestName, fields map[model.ObjectID][]string) (map[model.ObjectID][]string, error) {
	memory, records, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	accepted := map[model.ObjectID][]string{}
	for _, r := range records[resource] {
		paths, err := memory.Accept(r.ObjectID, r.UID, fields[r.ObjectID])
		if err != nil {
			return accepted, err
		}
		if len(paths) > 0 {
			accepted[r.ObjectID] = paths
		}
	}
	return accepted, nil
}

// drift compares the chosen recorded objects with their last apply.
func (c *Cluster) drift(ctx context.Context, memory *deploy.Memory, records map[model.ManifestName][]ledger.Record,
	chosen func(model.ManifestName, model.ObjectID) bool) (steps []api.PlanStep, unknown []model.ObjectID, err error) {
	req := deploy.PreviewRequest{Project: c.project, Records: records, Prior: memory.Remembered, Written: memory.WrittenAt, Accepted: memory.Accepted, Drift: true}
	for _, name := range slices.Sorted(maps.Keys(records)) {
		d := deploy.Declared{Resource: name}
		for _, r := range records[name] {
			if !r.Stays() || !chosen(name, r.ObjectID) {
				continue
			}
			if u := memory.Remembered(r.ObjectID); u != nil {
				d.Objects = append(d.Objects, u)
			} else {
				unknown = append(unknown, r.ObjectID)
			}
		}
		if len(d.Objects) > 0 {
			req.Declared = append(req.Declared, d)
		}
	}
	steps, err = c.applier.Preview(ctx, req)
	return steps, unknown, err
}

// resourceNames lists resources for a message.
func resourceNames(records map[model.ManifestName][]ledger.Record) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(records)) {
		out = append(out, string(name))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
