package resourcegraph

import (
	"cmp"
	"slices"
)

// place is where a node is drawn: its layer from the left, and its row from the top.
type place struct{ layer, row float64 }

// sweeps is the number of times that the layers are sorted by their neighbours. More changes little.
const sweeps = 8

// layout places nodes in layers, so that edges go from left to right, and orders each layer so that few of them cross. Where an edge
// passes a layer, it has a bend there; the bends of an edge are in the order of its way.
type layout struct {
	places []place
	bends  [][]place
	// layers and rows are the size of the picture.
	layers, rows int
}

// cell is a node or a bend while layers are ordered. near are its neighbours in the layers beside it.
type cell struct {
	layer int
	near  []*cell
	row   float64
}

// lay returns the layout of a graph of n nodes. Edges of a circle that would lead back are drawn without bends.
func lay(n int, edges []Edge) layout {
	depth := depths(n, edges)
	cells := make([]*cell, n)
	var layers [][]*cell
	add := func(layer int) *cell {
		c := &cell{layer: layer}
		for len(layers) <= layer {
			layers = append(layers, nil)
		}
		layers[layer] = append(layers[layer], c)
		return c
	}
	for i := range n {
		cells[i] = add(depth[i])
	}
	bends := make([][]*cell, len(edges))
	for i, e := range edges {
		at := cells[e.From]
		for layer := depth[e.From] + 1; layer <= depth[e.To]; layer++ {
			next := cells[e.To]
			if layer < depth[e.To] {
				next = add(layer)
				bends[i] = append(bends[i], next)
			}
			at.near, next.near = append(at.near, next), append(next.near, at)
			at = next
		}
	}
	out := layout{layers: len(layers)}
	for _, layer := range layers {
		out.rows = max(out.rows, len(layer))
	}
	arrange(layers, out.rows)
	for _, c := range cells {
		out.places = append(out.places, place{float64(c.layer), c.row})
	}
	for _, list := range bends {
		var way []place
		for _, c := range list {
			way = append(way, place{float64(c.layer), c.row})
		}
		out.bends = append(out.bends, way)
	}
	return out
}

// depths returns the layer of each node: one more than the deepest node that it needs.
func depths(n int, edges []Edge) []int {
	needs := make([][]int, n)
	for _, e := range edges {
		needs[e.To] = append(needs[e.To], e.From)
	}
	depth, seen := make([]int, n), make([]bool, n)
	var visit func(i int) int
	visit = func(i int) int {
		if !seen[i] {
			seen[i] = true
			for _, need := range needs[i] {
				depth[i] = max(depth[i], visit(need)+1)
			}
		}
		return depth[i]
	}
	for i := range n {
		visit(i)
	}
	return depth
}

// arrange orders each layer by the middle of its neighbours, again and again from both sides, and centres it.
func arrange(layers [][]*cell, rows int) {
	for _, layer := range layers {
		spread(layer, rows)
	}
	for sweep := range sweeps {
		for i := range layers {
			at, beside := i, -1
			if sweep%2 == 1 {
				at, beside = len(layers)-1-i, 1
			}
			slices.SortStableFunc(layers[at], func(a, b *cell) int { return cmp.Compare(a.middle(beside), b.middle(beside)) })
			spread(layers[at], rows)
		}
	}
}

// spread gives the cells of a layer their rows, in the middle of the picture.
func spread(layer []*cell, rows int) {
	for i, c := range layer {
		c.row = float64(i) + float64(rows-len(layer))/2
	}
}

// middle returns the middle row of a cell's neighbours in the layer beside it, or its own row if there are none.
func (c *cell) middle(beside int) float64 {
	sum, n := 0.0, 0.0
	for _, o := range c.near {
		if o.layer == c.layer+beside {
			sum, n = sum+o.row, n+1
		}
	}
	if n == 0 {
		return c.row
	}
	return sum / n
}
