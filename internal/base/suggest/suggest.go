// Package suggest finds the name that a misspelled name was meant to be.
package suggest

import (
	"fmt"
	"strings"
)

// Mend returns the mend of a problem with an unknown name: the question whether the nearest candidate was meant, if there is
// one, followed by the advice otherwise, which always applies.
func Mend(name string, candidates []string, otherwise string) string {
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, otherwise)
	}
	return otherwise
}

// Nearest returns the candidate that name is most likely a misspelling of, or "". Ties go to the earlier one.
func Nearest(name string, candidates []string) string {
	best, bound := "", max(1, (len(name)+1)/3)+1
	word := plain(name)
	for _, c := range candidates {
		if c == name {
			continue
		}
		if d := Distance(word, plain(c), bound); d < bound {
			best, bound = c, d
		}
	}
	return best
}

func plain(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// Distance is the number of single-byte insertions, deletions, replacements and swaps of neighbours that turn a into b, or bound
// if it is at least bound.
func Distance(a, b string, bound int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= bound {
		return bound
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 {
				if swapped := a[i-1] == b[j-2] && a[i-2] == b[j-1]; swapped {
					cur[j] = min(cur[j], before[j-2]+1)
				}
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], bound)
}
