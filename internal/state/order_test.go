package state

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/store"
)

// TestInOrder puts resources into the order of the Tiltfile, also where two have the same place, or one that there is not.
func TestInOrder(t *testing.T) {
	entry := func(text string) *store.Entry[Resource] {
		e := &store.Entry[Resource]{Meta: store.Meta{ID: text[:1], Phase: store.Running}}
		e.Value.Order = int(text[1] - '0')
		if strings.HasSuffix(text, "!") {
			e.Phase = store.TearingDown
		}
		return e
	}
	for in, want := range map[string]string{
		"":               "",
		"a0":             "a",
		"a2 b1 c0":       "c b a",
		"a2 b0":          "b a", // c is switched off
		"a0 b1! c2":      "a c b",
		"a1! b0! c2":     "c b a",
		"a9 b0 c1":       "b c a",
		"a1 b1 c0 d1":    "c a b d",
		"a0! b0 c1 d2!":  "b c a d",
		"a0 b0! c1! d1":  "a d b c",
		"a3 b2 c1 d0 e0": "d e c b a",
	} {
		var all []*store.Entry[Resource]
		for _, text := range strings.Fields(in) {
			all = append(all, entry(text))
		}
		var got []string
		for _, e := range inOrder(all, 3, func(e *store.Entry[Resource]) *store.Entry[Resource] { return e }) {
			got = append(got, e.ID)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: %s, want %s", in, g, want)
		}
	}
}
