package operation

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// State is a state of an item that an operation waits for after it has changed the item.
type State int

// The states.
const (
	// Ready: nodes that need the applied item can use it.
	Ready State = iota
	// Released: the item is gone, or only its own dependents still hold it, so that its end needs nothing else.
	Released
	// Gone: the item is gone.
	Gone
)

// Runtime works on the items of one operation, which it numbers. An error concerns one item, unless its context is over. Runtimes are
// compared with ==: nodes of equal ones share a call of Record.
type Runtime interface {
	// Plan returns the step that Apply, or in a deletion Delete, would take for an item; nil if there is nothing to report. It
	// writes nothing, neither to the item's place nor to the ledger.
	Plan(ctx context.Context, item int) (*api.PlanStep, error)
	// Record notes that the items are about to be applied, so that a later process can find and delete them. When it returns nil, the
	// notes outlive this process. It is called once, before anything is applied.
	Record(ctx context.Context, items []int) error
	// Apply makes an item as it is declared. An item that is already in that state stays untouched.
	Apply(ctx context.Context, item int) error
	// Delete ends an item, or requests its end. One that does not exist, or is spared, is no error.
	Delete(ctx context.Context, item int) error
	// Await waits until an item that was applied, or whose deletion was requested, has reached a state.
	Await(ctx context.Context, item int, until State) error
}

// Node is one thing in an operation: an object, a service, a process.
type Node struct {
	// Name is its name in messages.
	Name string
	// Item is its number in the runtime.
	Item    int
	Runtime Runtime
	// Needs are the indexes of the nodes that it needs: they are applied before it, and deleted after it.
	Needs []int
	// Resource is the resource that it belongs to.
	Resource model.ManifestName
	// Free nodes mostly wait, and do not count against the limit.
	Free bool
	// Whole is set if one call of Delete ends the node: there is nothing to await afterwards.
	Whole bool
	// Holds is set if other nodes vanish with this one. It is deleted only once the nodes that need it are gone, not merely
	// about to go.
	Holds bool
	// Last is set if it is deleted after all nodes that do not have it set, even if their deletion fails, unless something else
	// requires the contrary.
	Last bool
	// Rather are the indexes of nodes that are deleted after this one, unless something else requires the contrary.
	Rather []int
}

// Operation is a graph of nodes.
type Operation struct {
	nodes []Node
	needs [][]int
}

// CycleError is the error of New if nodes need each other.
type CycleError struct {
	// Names are the nodes along the cycle, the first one repeated at the end.
	Names []string
}

// Error shows the whole cycle.
func (c *CycleError) Error() string {
	return "the nodes of an operation need each other: " + strings.Join(c.Names, " → ")
}

var _ error = (*CycleError)(nil)

// New returns the operation on the given nodes. Nodes that could start at the same time start in the order of the slice.
func New(nodes []Node) (*Operation, error) {
	o := &Operation{nodes: nodes, needs: make([][]int, len(nodes))}
	for i, n := range nodes {
		o.needs[i] = n.Needs
	}
	if cycle := dag.Cycle(o.needs); cycle != nil {
		names := make([]string, len(cycle))
		for k, i := range cycle {
			names[k] = nodes[i].Name
		}
		return nil, &CycleError{names}
	}
	return o, nil
}

// Plan returns the steps of Apply, each node after the nodes that it needs. It plans at most limit nodes at a time.
func (o *Operation) Plan(ctx context.Context, limit int) ([]api.PlanStep, error) {
	steps := make([]*api.PlanStep, len(o.nodes))
	work := make([]dag.Node, len(o.nodes))
	for i, n := range o.nodes { // planning one node needs no other
		work[i] = dag.Node{Name: n.Name, Run: func(ctx context.Context) (err error) {
			steps[i], err = n.Runtime.Plan(ctx, n.Item)
			return err
		}}
	}
	for i, err := range dag.Walk(ctx, work, limit) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", o.nodes[i].Name, err)
		}
	}
	out := make([]api.PlanStep, 0, len(steps))
	for _, i := range dag.Topological(o.needs) {
		if steps[i] != nil {
			out = append(out, *steps[i])
		}
	}
	return out, nil
}

// Apply records all nodes and then applies each, after the nodes that it needs have been applied and are ready, at most limit
// at a time. A node that fails blocks only the nodes that need it, which get a *dag.Blocked. The result has an error for each
// node. If the records fail, Apply returns their error and applies nothing.
func (o *Operation) Apply(ctx context.Context, limit int) ([]error, error) {
	if err := o.record(ctx); err != nil {
		return nil, err
	}
	work := make([]dag.Node, len(o.nodes))
	for i, n := range o.nodes {
		work[i] = dag.Node{Name: n.Name, After: n.Needs, Free: n.Free, Run: func(ctx context.Context) error {
			if err := n.Runtime.Apply(ctx, n.Item); err != nil {
				return err
			}
			return n.Runtime.Await(ctx, n.Item, Ready)
		}}
	}
	return dag.Walk(ctx, work, limit), nil
}

// record calls each runtime once, in the order of its first node.
func (o *Operation) record(ctx context.Context) error {
	var runtimes []Runtime
	items := map[Runtime][]int{}
	for _, n := range o.nodes {
		if _, known := items[n.Runtime]; !known {
			runtimes = append(runtimes, n.Runtime)
		}
		items[n.Runtime] = append(items[n.Runtime], n.Item)
	}
	for _, r := range runtimes {
		if err := r.Record(ctx, items[r]); err != nil {
			return err
		}
	}
	return nil
}
