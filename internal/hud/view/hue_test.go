package view

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hone-dev/hone/internal/hud/text"
)

// TestHues: neighbours do not look alike, nor do the first five, the first nine differ, most of the others have the hue of their
// hash, and the order of later names does not matter to earlier ones.
func TestHues(t *testing.T) {
	const n, families = 9, 5
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("service-%d", i))
	}
	hues := Hues(names, n, families)
	first, alike := map[int]bool{}, map[int]bool{}
	own := 0
	for i, h := range hues {
		if h < 0 || h >= n || i > 0 && h%families == hues[i-1]%families {
			t.Fatalf("%s has hue %d, the one before it has %v", names[i], h, hues[max(i-1, 0)])
		}
		if i < n {
			first[h] = true
		}
		if i < families {
			alike[h%families] = true
		}
		if h == text.Hash(names[i], n) {
			own++
		}
	}
	if len(first) != n {
		t.Errorf("the first %d names have %d hues", n, len(first))
	}
	if len(alike) != families {
		t.Errorf("the first %d names have hues of %d families", families, len(alike))
	}
	if own < 150 {
		t.Errorf("only %d names have the hue of their hash", own)
	}
	if more := Hues(append(slices.Clone(names), "another"), n, families); !slices.Equal(more[:len(hues)], hues) {
		t.Error("a name that was added at the end changes others")
	}
	changed := 0
	for i, h := range Hues(slices.Insert(slices.Clone(names), 100, "another"), n, families) {
		if i < 100 && h != hues[i] || i > 100 && h != hues[i-1] {
			changed++
		}
	}
	if changed > 5 {
		t.Errorf("a name in the middle changes %d others", changed)
	}
	if got := Hues([]string{"a", "b"}, 1, 1); !slices.Equal(got, []int{0, 0}) {
		t.Errorf("one hue: %v", got)
	}
	if len(Hues(nil, n, families)) != 0 {
		t.Error("hues of nothing")
	}
	if got := Hues([]string{"a", "b", "c"}, 2, 1); len(got) != 3 {
		t.Errorf("two hues that look alike: %v", got)
	}
}

// TestFirstHues: whatever the names are, the first nine have nine hues, and no neighbours look alike.
func TestFirstHues(t *testing.T) {
	const n, families = 9, 5
	for seed := range 2000 {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("%d-%d", seed, i))
		}
		hues := Hues(names, n, families)
		first := map[int]bool{}
		for i, h := range hues {
			first[h] = true
			if i > 0 && h%families == hues[i-1]%families {
				t.Fatalf("%v: %s looks like the name before it", hues, names[i])
			}
		}
		if len(first) != n {
			t.Fatalf("%v has %d hues", hues, len(first))
		}
	}
}
