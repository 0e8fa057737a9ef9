package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/pkg/model"
)

// DeleteOptions are the options of Delete.
type DeleteOptions struct {
	// Limit is the most nodes that are deleted at a time.
	Limit int
	// Wait waits until the nodes are gone.
	Wait bool
	// Deps maps each resource to the resources that it depends on: its nodes go before theirs. Where the nodes themselves require
	// another order, that order wins.
	Deps map[model.ManifestName][]model.ManifestName
}

// deletion is the walk of one Delete. Each node has a part that deletes it and, where there is something to await, a part that waits
// until it is released and one that waits until it is gone. A resource may have a part before and one after all its others.
type deletion struct {
	o    *Operation
	opts DeleteOptions
	work []dag.Node
	// deleted, released and gone are the parts of each node. Where nothing is awaited, they are the same.
	deleted, released, gone []int
	opening, completed      map[model.ManifestName]int
}

// Delete deletes the nodes, each after the nodes that need it, in the reverse order of the slice where that does not matter. One
// that is stuck or fails holds up only the nodes that it needs, which get a *dag.Blocked. The result has an error for each node.
func (o *Operation) Delete(ctx context.Context, opts DeleteOptions) []error {
	n := len(o.nodes)
	d := &deletion{o: o, opts: opts, deleted: make([]int, n), released: make([]int, n), gone: make([]int, n),
		opening: map[model.ManifestName]int{}, completed: map[model.ManifestName]int{}}
	d.addNodes()
	d.orderNodes()
	d.orderResources()
	errs := dag.Walk(ctx, d.work, opts.Limit)
	out := make([]error, n)
	for i := range o.nodes {
		for _, part := range []int{d.deleted[i], d.released[i], d.gone[i]} {
			if out[i] == nil {
				out[i] = errs[part]
			}
		}
	}
	return out
}

func (d *deletion) add(name string, free bool, run func(context.Context) error) int {
	d.work = append(d.work, dag.Node{Name: name, Free: free, Run: run})
	return len(d.work) - 1
}

// before makes part b come after part a.
func (d *deletion) before(a, b int) { d.work[b].After = append(d.work[b].After, a) }

func (d *deletion) addNodes() {
	backwards := make([]int, 0, len(d.o.nodes))
	for i := range d.o.nodes {
		backwards = append(backwards, i)
	}
	slices.Reverse(backwards)
	for _, i := range backwards {
		n := d.o.nodes[i]
		at := d.add(n.Name, n.Free, func(ctx context.Context) error { return n.Runtime.Delete(ctx, n.Item) })
		d.deleted[i], d.released[i], d.gone[i] = at, at, at
	}
	if !d.opts.Wait {
		return
	}
	await := func(parts, before []int, until State) {
		for _, i := range backwards {
			if n := d.o.nodes[i]; !n.Whole {
				parts[i] = d.add(n.Name, true, func(ctx context.Context) error { return n.Runtime.Await(ctx, n.Item, until) })
				d.before(before[i], parts[i])
			}
		}
	}
	await(d.released, d.deleted, Released)
	await(d.gone, d.released, Gone)
}

// orderNodes orders nodes before those that they need.
func (d *deletion) orderNodes() {
	for i, needs := range d.o.needs {
		for _, n := range needs {
			d.before(d.deleted[i], d.deleted[n])
			if d.o.nodes[n].Holds && d.gone[i] != d.deleted[i] {
				d.before(d.gone[i], d.deleted[n])
			}
		}
	}
}

// orderResources orders resources before their dependencies, and nodes before those that they should rather precede.
func (d *deletion) orderResources() {
	ways := d.nodeWays()
	for _, dependent := range slices.Sorted(maps.Keys(d.opts.Deps)) {
		for _, on := range d.opts.Deps[dependent] {
			if ways.add(dependent, on) {
				d.before(d.after(dependent), d.ahead(on))
			}
		}
	}
	for i, n := range d.o.nodes {
		for _, later := range n.Rather {
			if to := d.o.nodes[later].Resource; to == n.Resource || ways.add(n.Resource, to) {
				d.before(d.gone[i], d.deleted[later])
			}
		}
	}
	d.orderLast(ways)
	for i, n := range d.o.nodes {
		if first, ok := d.opening[n.Resource]; ok {
			d.before(first, d.deleted[i])
		}
		if last, ok := d.completed[n.Resource]; ok {
			d.before(d.released[i], last)
		}
	}
}

// orderLast lets the nodes that go last wait for the end of the others, where the order of resources allows it.
func (d *deletion) orderLast(ways ways) {
	for i, last := range d.o.nodes {
		if !last.Last {
			continue
		}
		for j, n := range d.o.nodes {
			if !n.Last && n.Resource != last.Resource && ways.add(n.Resource, last.Resource) {
				at := &d.work[d.deleted[i]]
				at.Behind = append(at.Behind, d.gone[j])
			}
		}
	}
}

// ahead returns the part before all others of a resource, after the one that follows them. Both are created on demand.
func (d *deletion) ahead(name model.ManifestName) int {
	return d.mark(d.opening, name, func(first int) {
		if last, ok := d.completed[name]; ok {
			d.before(first, last)
		}
	})
}

func (d *deletion) after(name model.ManifestName) int {
	return d.mark(d.completed, name, func(last int) {
		if first, ok := d.opening[name]; ok {
			d.before(first, last)
		}
	})
}

func (d *deletion) mark(marks map[model.ManifestName]int, name model.ManifestName, made func(int)) int {
	if at, ok := marks[name]; ok {
		return at
	}
	marks[name] = d.add(string(name), true, func(context.Context) error { return nil })
	made(marks[name])
	return marks[name]
}

// ways maps each resource to the resources that go after it.
type ways map[model.ManifestName][]model.ManifestName

// nodeWays returns the order of resources that the nodes themselves require.
func (d *deletion) nodeWays() ways {
	w := ways{}
	for i, needs := range d.o.needs {
		for _, n := range needs {
			if from, to := d.o.nodes[i].Resource, d.o.nodes[n].Resource; from != to && !slices.Contains(w[from], to) {
				w[from] = append(w[from], to)
			}
		}
	}
	return w
}

// add orders one resource before another. It reports false if the existing order requires the contrary.
func (w ways) add(from, to model.ManifestName) bool {
	if from == to || model.DependsOn(w, to, from) {
		return false
	}
	if !slices.Contains(w[from], to) {
		w[from] = append(w[from], to)
	}
	return true
}
