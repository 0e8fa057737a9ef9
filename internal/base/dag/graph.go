package dag

import (
	"cmp"
	"container/heap"
	"slices"
)

// Cycle returns the indexes along a cycle of a graph, its first one repeated at the end, or nil if there is none. needs[i] are the
// nodes that node i needs.
func Cycle(needs [][]int) []int {
	const (
		unseen = iota
		open
		closed
	)
	state := make([]int, len(needs))
	var path []int
	var visit func(n int) []int
	visit = func(n int) []int {
		state[n] = open
		path = append(path, n)
		for _, d := range needs[n] {
			switch state[d] {
			case open:
				return append(slices.Clone(path[slices.Index(path, d):]), d)
			case unseen:
				if c := visit(d); c != nil {
					return c
				}
			}
		}
		state[n] = closed
		path = path[:len(path)-1]
		return nil
	}
	for n := range needs {
		if state[n] == unseen {
			if c := visit(n); c != nil {
				return c
			}
		}
	}
	return nil
}

// Topological returns the indexes of an acyclic graph, each after the nodes that it needs, and otherwise in their own order: a needed node
// comes right before it.
func Topological(needs [][]int) []int {
	out := make([]int, 0, len(needs))
	seen := make([]bool, len(needs))
	var add func(i int)
	add = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, d := range needs[i] {
			add(d)
		}
		out = append(out, i)
	}
	for i := range needs {
		add(i)
	}
	return out
}

// ready is a heap of the indexes of nodes that may start.
type ready []int

var _ heap.Interface = (*ready)(nil)

// Len implements heap.Interface.
func (r ready) Len() int { return len(r) }

// Less implements heap.Interface.
func (r ready) Less(i, j int) bool { return cmp.Less(r[i], r[j]) }

// Swap implements heap.Interface.
func (r ready) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push implements heap.Interface.
func (r *ready) Push(x any) { *r = append(*r, x.(int)) }

// Pop implements heap.Interface.
func (r *ready) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
