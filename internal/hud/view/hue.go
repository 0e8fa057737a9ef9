package view

import "github.com/hone-dev/hone/internal/hud/text"

// Hues assigns one of n hues to each name, in the order of names, which is the table's order. Hues look alike if their numbers
// are the same modulo families: one is the lighter form of the other. The hue of a name follows from its hash, and is thus the
// same in every session. But it is the next free hue if it would look like the hue of the name before, if the first names, as
// many as there are families, would not all look different, or if the first n names would not all have different hues. A name
// that is added later changes the hues of few others.
func Hues(names []string, n, families int) []int {
	out := make([]int, len(names))
	if n < 2 || families < 1 {
		return out
	}
	used, alike := make([]bool, n), make([]bool, families)
	for i, name := range names {
		own := text.Hash(name, n)
		neighbour := func(hue int) bool { return i > 0 && out[i-1]%families == hue%families }
		taken := func(hue int) bool {
			switch { // the first ones differ more
			case i < families:
				return alike[hue%families]
			case i < n:
				return neighbour(hue) || used[hue]
			}
			return neighbour(hue)
		}
		hue := next(own, n, taken)
		if taken(hue) { // there are few hues
			hue = next(own, n, neighbour)
		}
		out[i] = hue
		used[hue], alike[hue%families] = true, true
	}
	return out
}

// next returns the first hue from a hue on that is not taken; the hue itself if all are.
func next(hue, n int, taken func(int) bool) int {
	for i := range n {
		if h := (hue + i) % n; !taken(h) {
			return h
		}
	}
	return hue
}
