package buildkit

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"
)

// homes returns the numbers of count daemons, the home of an image first, and then those that take its place in turn. The order follows from the
// image alone (rendezvous hashing): it is the same on every machine, and one daemon more becomes the home of few images only.
func homes(image string, count int) []int {
	all := make([]int, count)
	weights := make([]uint64, count)
	for i := range all {
		all[i] = i
		weights[i] = xxh3.HashString(image + " " + strconv.Itoa(i))
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	return all
}
