package view

import "github.com/hone-dev/hone/internal/hud/text"

// Hues assigns one of n hues to each name, in the order of names, which is that of the table. The hue of a name is that of its
// hash, and so the same in every session, unless it would be that of the name before it, or of another one of the first n
// names: then it is the next hue that is free. A name that is added later changes the hues of few others.
func Hues(names []string, n int) []int {
	out := make([]int, len(names))
	if n < 2 {
		return out
	}
	used := make([]bool, n)
	for i, name := range names {
		hue := text.Hash(name, n)
		taken := func() bool { return i < n && used[hue] || i > 0 && out[i-1] == hue }
		for taken() {
			hue = (hue + 1) % n
		}
		out[i] = hue
		if i < n {
			used[hue] = true
		}
	}
	return out
}
