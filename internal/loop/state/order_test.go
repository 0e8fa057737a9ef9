package state

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/store"
)

// TestInOrder puts resources into the order of the Tiltfile, also where two have the same place, or one that does not exist.
func TestInOrder(t *testing.T) {
	entry := func(text string) *store.Entry[Resource] {
		e := &store.Entry[Resource]{Meta: store.Meta{ID: text[:1], Phase: store.Running}}
		e.Value.Order, e.Value.Enabled = int(text[1]-'0'), !strings.HasSuffix(text, "-")
		if strings.HasSuffix(text, "!") {
			e.Phase = store.TearingDown
		}
		return e
	}
	for in, want := range map[string]string{
		"":               "",
		"a0":             "a",
		"a2 b1 c0":       "c b a",
		"a2 b0":          "b a",
		"a2 b0 c1-":      "b a", // c is switched off
		"a2 b0- c1! d0":  "d a c",
		"a0 b1! c2":      "a c b",
		"a1! b0! c2":     "c b a",
		"a9 b0 c1":       "b c a",
		"a1 b1 c0 d1":    "c a b d",
		"a0! b0 c1 d2!":  "b c a d",
		"a0 b0! c1! d1":  "a d b c",
		"a3 b2 c1 d0 e0": "d e c b a",
	} {
		var all []*store.Entry[Resource]
		var traits []trait
		for _, text := range strings.Fields(in) {
			all = append(all, entry(text))
			traits = append(traits, traitOf(all[len(all)-1]))
		}
		var got []string
		for _, e := range inOrder(all, traits, func(e *store.Entry[Resource]) *store.Entry[Resource] { return e }) {
			got = append(got, e.ID)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: %s, want %s", in, g, want)
		}
	}
}

// TestWithUpdates changes resources and updates at random, and checks that a join made from an earlier one equals a new one.
func TestWithUpdates(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	names := strings.Split("abcdefghij", "")
	var resources []*store.Entry[Resource]
	var updates []*store.Entry[Update]
	for _, n := range names {
		resources = append(resources, &store.Entry[Resource]{Meta: store.Meta{ID: n}})
	}
	before := newJoin(resources, updates)
	for range 5000 {
		resources, updates = slices.Clone(resources), slices.Clone(updates)
		switch n := names[random.IntN(len(names))]; random.IntN(4) {
		case 0:
			resources = toggled(resources, n)
		case 1:
			updates = toggled(updates, n)
		case 2:
			resources = renewed(resources, n)
		default:
			updates = renewed(updates, n)
		}
		want := newJoin(resources, updates)
		got, ok := before.then(resources, updates)
		if !ok && len(before.resources) == len(resources) && len(before.updates) == len(updates) {
			t.Fatal("a change of one entry is not followed")
		}
		if !ok {
			got = want
		}
		if !slices.Equal(got.all, want.all) || !slices.Equal(got.of, want.of) {
			t.Fatalf("got %v, want %v", got, want)
		}
		before = got
	}
}

func find[T any](list []*store.Entry[T], id string) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(e *store.Entry[T], id string) int { return strings.Compare(e.ID, id) })
}

// toggled adds an entry, or removes it.
func toggled[T any](list []*store.Entry[T], id string) []*store.Entry[T] {
	i, ok := find(list, id)
	if ok {
		return slices.Delete(list, i, i+1)
	}
	return slices.Insert(list, i, &store.Entry[T]{Meta: store.Meta{ID: id}})
}

// renewed replaces an entry, if it is there.
func renewed[T any](list []*store.Entry[T], id string) []*store.Entry[T] {
	if i, ok := find(list, id); ok {
		list[i] = &store.Entry[T]{Meta: store.Meta{ID: id}}
	}
	return list
}
