package view

import "github.com/hone-dev/hone/internal/hud/text"

// Hues assigns one of n hues to each name, in the order of names, which is that of the table. Hues look alike if their numbers
// are the same modulo families: one is the lighter form of the other. The hue of a name is that of its hash, and so the same in
// every session, unless it would look like that of the name before it or like another one of the first names, as many as there
// are families, or would be that of another one of the first n names: then it is the next hue that is none of these. A name
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
			return neighbour(hue) || i < n && used[hue] || i < families && alike[hue%families]
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
