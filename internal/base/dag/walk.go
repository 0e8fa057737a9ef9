package dag

import (
	"container/heap"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Node is one unit of work in a walk.
type Node struct {
	// Name is the name of the node in the errors of its dependents.
	Name string
	// After are the indexes of the nodes that have to succeed first.
	After []int
	// Behind are the indexes of the nodes that have to end first, whether or not they succeed.
	Behind []int
	// Free nodes only wait, so they do not count against the limit.
	Free bool
	Run  func(ctx context.Context) error
}

// Blocked is the error of a node that was not started because another node failed.
type Blocked struct {
	// By is the name of the node that failed.
	By string
}

// Error returns "blocked by …".
func (b *Blocked) Error() string { return fmt.Sprintf("blocked by %s", b.By) }

var _ error = (*Blocked)(nil)

type idleKey struct{}

// Idle declares that the node of ctx only waits from now on, so that it no longer counts against the limit of its walk.
func Idle(ctx context.Context) {
	if f, ok := ctx.Value(idleKey{}).(func()); ok {
		f()
	}
}

// Walk runs the nodes of an acyclic graph, at most limit of those that are not free at a time. Nodes that are ready at
// the same time start in the order of the slice. A node that fails blocks only the nodes that come after it, directly
// or indirectly; they get a *Blocked that names it. When ctx ends, no further node starts, and the nodes that have
// not run get its error. Walk returns after every started node has ended, with one error per node, nil for success.
func Walk(ctx context.Context, nodes []Node, limit int) []error {
	w := walker{nodes: slices.Clone(nodes), errs: make([]error, len(nodes)), waits: make([]int, len(nodes)),
		next: make([][]edge, len(nodes)), state: make([]nodeState, len(nodes)), done: make(chan finished)}
	for i, n := range nodes {
		w.waits[i] = len(n.After) + len(n.Behind)
		for _, d := range n.After {
			w.next[d] = append(w.next[d], edge{to: i})
		}
		for _, d := range n.Behind {
			w.next[d] = append(w.next[d], edge{i, true})
		}
		if w.waits[i] == 0 {
			w.free(i)
		}
	}
	for {
		w.start(ctx, limit)
		if w.running == 0 {
			break
		}
		f := <-w.done
		if f.idle {
			w.nodes[f.node].Free = true
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

// edge leads from a node to one that comes after it; only behind it if a failure does not matter.
type edge struct {
	to     int
	behind bool
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

// walker is the state of one walk; only the goroutine of Walk uses it.
type walker struct {
	nodes []Node
	errs  []error
	waits []int
	next  [][]edge
	state []nodeState
	// ready are the nodes that wait only for the limit, waiters the free nodes, which do not wait for it.
	ready, waiters ready
	// running counts all nodes that run, busy those that count against the limit.
	running, busy int
	done          chan finished
}

// free notes that a node waits for no other node.
func (w *walker) free(i int) {
	if w.nodes[i].Free {
		heap.Push(&w.waiters, i)
	} else {
		heap.Push(&w.ready, i)
	}
}

// start starts every node that is ready, as far as the limit allows.
func (w *walker) start(ctx context.Context, limit int) {
	if ctx.Err() != nil {
		return
	}
	for len(w.waiters) > 0 {
		w.run(ctx, heap.Pop(&w.waiters).(int))
	}
	for len(w.ready) > 0 && w.busy < limit {
		w.run(ctx, heap.Pop(&w.ready).(int))
	}
}

func (w *walker) run(ctx context.Context, i int) {
	n := w.nodes[i]
	w.state[i] = nodeStarted
	w.running++
	own := ctx
	if !n.Free {
		w.busy++
		own = context.WithValue(ctx, idleKey{}, sync.OnceFunc(func() { w.done <- finished{node: i, idle: true} }))
	}
	go func() { w.done <- finished{node: i, err: n.Run(own)} }()
}

// finish records the end of a node and frees, or blocks, the nodes that come after it.
func (w *walker) finish(f finished) {
	w.state[f.node] = nodeOver
	w.errs[f.node] = f.err
	w.running--
	if !w.nodes[f.node].Free {
		w.busy--
	}
	if f.err != nil {
		w.block(f.node, w.nodes[f.node].Name)
		return
	}
	for _, e := range w.next[f.node] {
		w.release(e.to)
	}
}

// release notes that one of the nodes that node n comes after is over.
func (w *walker) release(n int) {
	if w.waits[n]--; w.waits[n] == 0 && w.state[n] == nodeWaiting {
		w.free(n)
	}
}

// block marks everything that comes after node n as blocked by the node called name.
func (w *walker) block(n int, name string) {
	for _, e := range w.next[n] {
		switch {
		case e.behind:
			w.release(e.to)
		case w.state[e.to] == nodeWaiting:
			w.state[e.to] = nodeOver
			w.errs[e.to] = &Blocked{By: name}
			w.block(e.to, name)
		}
	}
}
