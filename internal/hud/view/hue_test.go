package view

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hone-dev/hone/internal/hud/text"
)

// TestHues: neighbours differ, so do the first nine, most of the others have the hue of their hash, and the order of what
// follows does not matter to those before.
func TestHues(t *testing.T) {
	const n = 9
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("service-%d", i))
	}
	hues := Hues(names, n)
	first := map[int]bool{}
	own := 0
	for i, h := range hues {
		if h < 0 || h >= n || i > 0 && h == hues[i-1] {
			t.Fatalf("%s has hue %d, the one before it has %v", names[i], h, hues[max(i-1, 0)])
		}
		if i < n {
			first[h] = true
		}
		if h == text.Hash(names[i], n) {
			own++
		}
	}
	if len(first) != n {
		t.Errorf("the first %d names have %d hues", n, len(first))
	}
	if own < 150 {
		t.Errorf("only %d names have the hue of their hash", own)
	}
	if more := Hues(append(slices.Clone(names), "another"), n); !slices.Equal(more[:len(hues)], hues) {
		t.Error("a name that was added at the end changes others")
	}
	changed := 0
	for i, h := range Hues(slices.Insert(slices.Clone(names), 100, "another"), n) {
		if i < 100 && h != hues[i] || i > 100 && h != hues[i-1] {
			changed++
		}
	}
	if changed > 5 {
		t.Errorf("a name in the middle changes %d others", changed)
	}
	if got := Hues([]string{"a", "b"}, 1); !slices.Equal(got, []int{0, 0}) {
		t.Errorf("one hue: %v", got)
	}
	if len(Hues(nil, n)) != 0 {
		t.Error("hues of nothing")
	}
}
