package deploy

import (
	"context"
	"slices"
	"sync"
)

// node is one unit of work in a walk.
type node struct {
	// name is the name of the node in the errors of its dependents.
	name string
	// after are the indexes of the nodes that have to succeed first.
	after []int
	// free nodes only wait, so they do not count against the limit.
	free bool
	run  func(ctx context.Context) error
}

type idleKey struct{}

// idle declares that the node of ctx only waits from now on, so that it no longer counts against the limit of its walk.
func idle(ctx context.Context) {
	if f, ok := ctx.Value(idleKey{}).(func()); ok {
		f()
	}
}

// walk runs the nodes of an acyclic graph, at most limit of those that are not free at a time. Nodes that are ready at
// the same time start in the order of the slice. A node that fails blocks only the nodes that come after it, directly
// or indirectly; they get a blockedError that names it. When ctx ends, no further node starts, and the nodes that have
// not run get its error. walk returns after every started node has ended, with one error per node, nil for success.
func walk(ctx context.Context, nodes []node, limit int) []error {
	w := walker{nodes: slices.Clone(nodes), errs: make([]error, len(nodes)), waits: make([]int, len(nodes)),
		next: make([][]int, len(nodes)), state: make([]nodeState, len(nodes)), done: make(chan finished)}
	for i, n := range nodes {
		w.waits[i] = len(n.after)
		for _, d := range n.after {
			w.next[d] = append(w.next[d], i)
		}
	}
	for {
		w.start(ctx, limit)
		if w.running == 0 {
			break
		}
		f := <-w.done
		if f.idle {
			w.nodes[f.node].free = true
			w.busy--
			continue
		}
		w.finish(f)
	}
	for i := range nodes {
		if w.state[i] == nodeWaiting && w.errs[i] == nil {
			w.errs[i] = context.Cause(ctx)
		}
	}
	return w.errs
}

type nodeState int8

const (
	nodeWaiting nodeState = iota
	nodeStarted
	nodeOver
)

type finished struct {
	node int
	err  error
	// idle is set if the node has not ended, but only waits.
	idle bool
}

// walker is the state of one walk; only the goroutine of walk uses it.
type walker struct {
	nodes []node
	errs  []error
	waits []int
	next  [][]int
	state []nodeState
	// running counts all nodes that run, busy those that count against the limit.
	running, busy int
	done          chan finished
}

// start starts every node that is ready, as far as the limit allows.
func (w *walker) start(ctx context.Context, limit int) {
	if ctx.Err() != nil {
		return
	}
	for i, n := range w.nodes {
		if w.state[i] != nodeWaiting || w.waits[i] > 0 || (!n.free && w.busy >= limit) {
			continue
		}
		w.state[i] = nodeStarted
		w.running++
		if !n.free {
			w.busy++
		}
		own := ctx
		if !n.free {
			own = context.WithValue(ctx, idleKey{}, sync.OnceFunc(func() { w.done <- finished{node: i, idle: true} }))
		}
		go func() { w.done <- finished{node: i, err: n.run(own)} }()
	}
}

// finish records the end of a node and frees, or blocks, the nodes that come after it.
func (w *walker) finish(f finished) {
	w.state[f.node] = nodeOver
	w.errs[f.node] = f.err
	w.running--
	if !w.nodes[f.node].free {
		w.busy--
	}
	if f.err != nil {
		w.block(f.node, w.nodes[f.node].name)
		return
	}
	for _, n := range w.next[f.node] {
		w.waits[n]--
	}
}

// block marks everything that comes after node n as blocked by the node called name.
func (w *walker) block(n int, name string) {
	for _, d := range w.next[n] {
		if w.state[d] != nodeWaiting {
			continue
		}
		w.state[d] = nodeOver
		w.errs[d] = &blockedError{by: name}
		w.block(d, name)
	}
}
