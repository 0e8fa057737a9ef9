package buildkit

import (
	"fmt"
	"slices"
	"testing"
)

// TestHomes gives each image the same order of daemons everywhere, and moves few images when a daemon joins.
func TestHomes(t *testing.T) {
	for _, tt := range []struct {
		image string
		count int
		want  []int
	}{
		{"web", 1, []int{0}}, {"web", 2, []int{0, 1}}, {"web", 3, []int{0, 1, 2}}, {"web", 4, []int{0, 1, 3, 2}},
		{"api", 1, []int{0}}, {"api", 2, []int{1, 0}}, {"api", 3, []int{2, 1, 0}}, {"api", 4, []int{2, 3, 1, 0}},
	} {
		if got := homes(tt.image, tt.count); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	const images = 1000
	for count := 2; count <= 16; count++ {
		moved, at := 0, make([]int, count)
		for i := range images {
			image := fmt.Sprintf("registry.example.com/image-%d", i)
			before, order := homes(image, count-1), homes(image, count)
			at[order[0]]++
			if order[0] != before[0] {
				moved++
				if order[0] != count-1 {
					t.Errorf("%s goes from %d to %d when %d joins", image, before[0], order[0], count-1)
				}
			}
			rest := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return i == count-1 })
			if !slices.Equal(rest, before) {
				t.Errorf("%s: %v, and %v with one more", image, before, order)
			}
		}
		if fair := images / count; slices.Min(at) < fair/2 || slices.Max(at) > 2*fair || moved > 2*fair {
			t.Errorf("of %d daemons, each is the home of %v images; %d of %d moved", count, at, moved, images)
		}
	}
}
