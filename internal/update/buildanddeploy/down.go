package buildanddeploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// localCluster takes the place of a cluster in the key of the ledger of local resources, which need no cluster.
const localCluster = "local"

// downCommand is the name in messages of the command that undoes the work of a local resource.
const downCommand = "down command"

// DownCommands are the down commands of a project's local resources. A ledger of its own records them. It is safe for use by several
// goroutines.
type DownCommands struct {
	ledgers *ledger.Ledgers
	project project.Project
	env     []string
	prune   Prune

	mu       sync.Mutex
	ledger   *ledger.Ledger                     // guarded by mu
	declared map[model.ManifestName]model.Cmd   // guarded by mu
	locks    map[model.ManifestName]*sync.Mutex // guarded by mu
}

// DownsOptions are the options of DownCommands.
type DownsOptions struct {
	// Ledgers are the ledgers of this machine: down commands undo what was done on it.
	Ledgers *ledger.Ledgers
	Project project.Project
	// Env is added to the environment of down commands.
	Env []string
	// Prune says whether the down commands of resources may run that the Tiltfile no longer declares.
	Prune Prune
}

// NewDownCommands returns the down commands of a project. The ledger is opened when it is first needed.
func NewDownCommands(o DownsOptions) *DownCommands {
	return &DownCommands{ledgers: o.Ledgers, project: o.Project, env: o.Env, prune: o.Prune, locks: map[model.ManifestName]*sync.Mutex{}}
}

// Ledger opens the ledger of the project's local resources, including the records under the project's former IDs.
func (d *DownCommands) Ledger() (*ledger.Ledger, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ledger != nil {
		return d.ledger, nil
	}
	opened, err := d.ledgers.Open(context.Background(), ledger.Key{Cluster: localCluster, Project: d.project.ID}, nil)
	if err != nil {
		return nil, err
	}
	in, err := d.ledgers.Storage(context.Background())
	if err == nil {
		err = opened.TakeIn(in, d.project.Former)
	}
	if err != nil {
		return nil, err
	}
	d.ledger = opened
	return opened, nil
}

// Declare sets the down commands that the Tiltfile declares now, for recorded ones that have lost their arguments or the values of
// their variables.
func (d *DownCommands) Declare(manifests []model.Manifest) {
	declared := map[model.ManifestName]model.Cmd{}
	for _, m := range manifests {
		if m.Local != nil {
			declared[m.Name] = m.Local.Down
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.declared = declared
}

// Record records the down command of a local resource before its cmd or serve_cmd runs. A resource without one loses its record.
func (d *DownCommands) Record(m model.Manifest, declared []model.Manifest, env []string) error {
	records, err := d.Ledger()
	if err != nil {
		return err
	}
	if m.Local.Down.Empty() {
		commands, err := records.Commands()
		if _, recorded := commands[m.Name]; err != nil || !recorded {
			return err
		}
		return records.ForgetCommand(m.Name)
	}
	if err := records.RecordDown(m.Name, inSameCluster(m.Local.Down, env), around(m, declared)); err != nil {
		return fmt.Errorf("record the down command of %s: %w", m.Name, err)
	}
	return nil
}

// around returns the dependencies of a resource, of the resources that it depends on, and of the resources that depend on it.
func around(m model.Manifest, declared []model.Manifest) ledger.Deps {
	all := ledger.Deps{}
	for _, o := range declared {
		all[o.Name] = o.ResourceDeps
	}
	all[m.Name] = m.ResourceDeps
	maps.DeleteFunc(all, func(n model.ManifestName, deps []model.ManifestName) bool {
		related := n == m.Name || model.DependsOn(all, n, m.Name) || model.DependsOn(all, m.Name, n)
		return !related || len(deps) == 0
	})
	return all
}

// Recorded returns the recorded down commands, by resource, and the dependencies that were recorded with them.
func (d *DownCommands) Recorded() (commands map[model.ManifestName]model.Cmd, deps ledger.Deps, err error) {
	records, err := d.Ledger()
	if err != nil {
		return nil, nil, err
	}
	if commands, err = records.Commands(); err != nil {
		return nil, nil, err
	}
	recorded, err := records.CommandDeps()
	if err != nil {
		return nil, nil, err
	}
	deps = ledger.Deps{}
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		for of, on := range recorded[name] {
			if _, own := commands[of]; of == name || !own { // the record of a resource itself takes precedence
				deps[of] = on
			}
		}
	}
	return commands, deps, nil
}

// Run runs the recorded down command of a resource, if there is one, and forgets it when it has succeeded.
func (d *DownCommands) Run(ctx context.Context, name model.ManifestName, log logstore.Logger) error {
	lock := d.lock(name)
	lock.Lock()
	defer lock.Unlock()
	records, err := d.Ledger()
	if err != nil {
		return err
	}
	d.mu.Lock()
	declared := d.declared[name]
	d.mu.Unlock()
	return runRecorded(ctx, records, downCommand, name, declared, d.env, log)
}

// lock returns the lock that makes a down command run once at a time.
func (d *DownCommands) lock(name model.ManifestName) *sync.Mutex {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locks[name] == nil {
		d.locks[name] = &sync.Mutex{}
	}
	return d.locks[name]
}

// Remove runs the down command of a resource that the Tiltfile no longer declares, unless nothing may be pruned or the resource has
// come back meanwhile. If another resource has the same down command now, the resource was renamed: the record passes to that one,
// and nothing runs.
func (d *DownCommands) Remove(ctx context.Context, req RemoveRequest) error {
	records, err := d.Ledger()
	if err != nil {
		return err
	}
	commands, err := records.Commands()
	if err != nil {
		return err
	}
	cmd, ok := commands[req.Resource]
	if !ok || req.returned(model.Manifest.IsLocal) {
		return nil
	}
	if req.Declared != nil {
		for _, m := range req.Declared() {
			if m.Name != req.Resource && m.IsLocal() && sameCommand(m.Local.Down, cmd) {
				logstore.Infof(req.Log, "%s has the same down command now: it does not run", m.Name)
				return records.HandOverCommand(req.Resource, m.Name)
			}
		}
	}
	if req.Undeclared && d.prune == PruneNothing {
		logstore.Warnf(req.Log, "The down command of %s, %s, does not run: --no-prune; hone gc runs it", req.Resource, req.Why)
		return nil
	}
	logstore.Infof(req.Log, "Running the down command of %s, %s", req.Resource, req.Why)
	return d.Run(ctx, req.Resource, req.Log)
}

// Gone returns the steps of an operation for the chosen local resources that are no longer declared and have a recorded down
// command.
func (d *DownCommands) Gone(o PreviewOptions) (gone []api.PlanStep, err error) {
	left, err := d.Undeclared(o.Declared)
	if err != nil {
		return nil, err
	}
	commands, _, err := d.Recorded()
	if err != nil {
		return nil, err
	}
	for _, name := range left {
		cmd := commands[name]
		if !o.Chosen(name) {
			continue
		}
		same := slices.IndexFunc(o.Declared, func(m model.Manifest) bool { return m.Name != name && m.IsLocal() && sameCommand(m.Local.Down, cmd) })
		switch {
		case same >= 0:
			gone = append(gone, localStep(name, api.ActionHandOver, fmt.Sprintf("%s has the same down command now", o.Declared[same].Name)))
		case o.Others != "":
			gone = append(gone, localStep(name, api.ActionKeep, "no longer declared: "+o.othersText()))
		case o.Prune == PruneNothing:
			gone = append(gone, localStep(name, api.ActionKeep, "no longer declared: --no-prune"))
		default:
			gone = append(gone, localStep(name, api.ActionDelete, "no longer declared: runs "+shown(cmd)))
		}
	}
	return gone, nil
}

// Nodes returns a node for each local resource that the operation updates.
func (d *DownCommands) Nodes(o PreviewOptions) []operation.Node {
	r := &commands{downCommands: d}
	var nodes []operation.Node
	for _, m := range o.Declared {
		if m.IsLocal() && o.Affects(m) {
			nodes = append(nodes, operation.Node{Name: "command of " + string(m.Name), Item: len(r.items), Runtime: r, Resource: m.Name})
			r.items = append(r.items, command{manifest: m})
		}
	}
	return nodes
}

// localStep is a step for a local resource, whose effects are not known.
func localStep(name model.ManifestName, action api.PlanAction, reason string) api.PlanStep {
	return api.PlanStep{Object: api.PlanObject{Kind: api.PlanLocal, Name: string(name)}, Resource: string(name), Action: action, Reason: reason}
}

// Prune runs the down commands of the chosen resources that the Tiltfile no longer declares.
func (d *DownCommands) Prune(ctx context.Context, declared []model.Manifest, chosen func(model.ManifestName) bool, log logstore.Logger) error {
	left, err := d.Undeclared(declared)
	if err != nil {
		return err
	}
	_, deps, err := d.Recorded()
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(name model.ManifestName) bool { return !chosen(name) })
	steps := d.steps(left, log, func(ctx context.Context, name model.ManifestName, log logstore.Logger) error {
		return d.Remove(ctx, RemoveRequest{Resource: name, Why: "which the Tiltfile no longer declares", Log: log, Declared: func() []model.Manifest { return declared }})
	})
	return TakeDownBeside(ctx, steps, deps, log)
}

// Undeclared returns the resources with a recorded down command that are not among the declared local ones, dependents first.
func (d *DownCommands) Undeclared(declared []model.Manifest) ([]model.ManifestName, error) {
	commands, deps, err := d.Recorded()
	if err != nil {
		return nil, err
	}
	order := ledger.Deps{}
	for name := range commands {
		order[name] = nil
	}
	maps.Copy(order, deps)
	return slices.DeleteFunc(model.DependentsFirst(order), func(name model.ManifestName) bool {
		_, recorded := commands[name]
		return !recorded || slices.ContainsFunc(declared, func(m model.Manifest) bool { return m.Name == name && m.IsLocal() })
	}), nil
}

// Steps returns a step for the down command of each resource. They go last, because it is not known which resources need the things
// that they undo.
func (d *DownCommands) Steps(names []model.ManifestName, log logstore.Logger) []deploy.DeleteStep {
	return d.steps(names, log, d.Run)
}

func (d *DownCommands) steps(names []model.ManifestName, log logstore.Logger, undo func(context.Context, model.ManifestName, logstore.Logger) error) []deploy.DeleteStep {
	r := &commands{downCommands: d}
	steps, logs := make([]deploy.DeleteStep, len(names)), indented(log, names)
	for i, name := range names {
		r.items = append(r.items, command{manifest: model.Manifest{Name: name}, log: logs[i], undo: func(ctx context.Context, log logstore.Logger) error {
			return undo(ctx, name, log)
		}})
		steps[i] = deploy.DeleteStep{Node: operation.Node{Name: stepName(downCommand, name), Item: i, Runtime: r, Resource: name, Last: true}}
	}
	return steps
}

func stepName(kind string, name model.ManifestName) string {
	return fmt.Sprintf("the %s of %s", kind, name)
}
