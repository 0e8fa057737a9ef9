//go:build linux

package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlan makes many random moves: each layout declares every object once, in files of its own, and every kind of move
// changes something occasionally.
func TestPlan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	l := firstLayout()
	changed := map[string]int{}
	for range 2000 {
		m := anyOf(random, moves)
		before := l
		beforeText := text(before)
		l = m.do(l, random)
		if text(before) != beforeText {
			t.Fatalf("%s changed its argument", m.name)
		}
		if l.generation != before.generation+1 {
			t.Fatalf("%s: generation %d after %d", m.name, l.generation, before.generation)
		}
		moved := l
		moved.generation = before.generation
		if text(moved) != beforeText {
			changed[m.name]++
		}
		all := text(l)
		for name := range l.object {
			if n := strings.Count(all, "metadata: {name: "+name+"}"); n != 1 {
				t.Fatalf("%s: %s is declared %d times\n%s", m.name, name, n, all)
			}
		}
		if n := len(l.declared()); n != len(l.object)+1 {
			t.Fatalf("%d objects, want %d", n, len(l.object)+1)
		}
		if slices.Contains(resourceNames, l.workload) || len(l.object) == 0 {
			t.Fatalf("%s: %+v", m.name, l)
		}
	}
	for _, m := range moves {
		if changed[m.name] < 20 {
			t.Errorf("%s changed something %d times", m.name, changed[m.name])
		}
	}
}

func text(l layout) string {
	files, tiltfile := l.render()
	var b strings.Builder
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range files {
			if !yield(n) {
				return
			}
		}
	}) {
		b.WriteString("-- " + name + " --\n" + files[name])
	}
	return b.String() + "-- Tiltfile --\n" + tiltfile
}

func TestRender(t *testing.T) {
	l := layout{workload: "web", generation: 3, object: map[string]place{
		"c0": {resource: "one"}, "c1": {resource: "web", file: 1}, "c2": {}, "c3": {resource: "one", file: 1}}}
	_, got := l.render()
	want := `k8s_yaml('g3-0.yaml')
k8s_yaml('g3-1.yaml')
k8s_resource(new_name='one', objects=['c0:configmap', 'c3:configmap'])
k8s_resource('app', new_name='web', objects=['c1:configmap'])
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"one", "uncategorized", "web"}, l.resources()); diff != "" {
		t.Error(diff)
	}
}
