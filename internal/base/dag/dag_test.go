package dag

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWalkIsDeterministicOneAtATime(t *testing.T) {
	var got []string
	add := func(name string, after ...int) Node {
		return Node{Name: name, After: after, Run: func(context.Context) error { got = append(got, name); return nil }}
	}
	Walk(t.Context(), []Node{add("a", 2), add("b"), add("c"), add("d", 1)}, 1)
	if diff := cmp.Diff([]string{"b", "c", "a", "d"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWalkStopsWhenCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		wait := func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Second); return ctx.Err() }
		start := time.Now()
		errs := Walk(ctx, []Node{{Name: "a", Run: wait}, {Name: "b", Run: wait}, {Name: "c", After: []int{0}, Run: wait}}, 1)
		if time.Since(start) != 2*time.Second {
			t.Errorf("took %s: it must wait for what it started", time.Since(start))
		}
		var blocked *Blocked
		if !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) || !errors.As(errs[2], &blocked) {
			t.Errorf("errors %v", errs)
		}
	})
}

func TestWalkFreeNodesDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(context.Context) error { time.Sleep(time.Second); return nil }
		nodes := []Node{{Run: pause, Free: true}, {Run: pause, Free: true}, {Run: pause}, {Run: pause}}
		start := time.Now()
		Walk(t.Context(), nodes, 1)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// TestWalkGoesOnWhileNodesWait starts other nodes when running ones only wait.
func TestWalkGoesOnWhileNodesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began []time.Duration
		start := time.Now()
		run := func(ctx context.Context) error {
			began = append(began, time.Since(start))
			time.Sleep(time.Second)
			Idle(ctx)
			Idle(ctx)
			time.Sleep(time.Hour)
			return nil
		}
		Walk(t.Context(), []Node{{Run: run}, {Run: run}, {Run: run}}, 1)
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second}, began); diff != "" || time.Since(start) != time.Hour+3*time.Second {
			t.Errorf("%s; it took %s", diff, time.Since(start))
		}
	})
}

// TestWalkBehind: a node that comes only behind others runs whether or not they succeed, but not before they end.
func TestWalkBehind(t *testing.T) {
	var got []string
	failed := errors.New("no")
	node := func(name string, err error) Node {
		return Node{Name: name, Run: func(context.Context) error { got = append(got, name); return err }}
	}
	a, b, c, d := node("a", failed), node("b", nil), node("c", nil), node("d", nil)
	b.After, c.Behind, d.After, d.Behind = []int{0}, []int{0, 1}, []int{2}, []int{1}
	errs := Walk(t.Context(), []Node{a, b, c, d}, 4)
	if diff := cmp.Diff([]string{"a", "c", "d"}, got); diff != "" {
		t.Error(diff)
	}
	var blocked *Blocked
	if !errors.Is(errs[0], failed) || !errors.As(errs[1], &blocked) || errs[2] != nil || errs[3] != nil {
		t.Errorf("errors %v", errs)
	}
}

func TestCycle(t *testing.T) {
	for _, tt := range []struct {
		needs [][]int
		want  []int
	}{
		{[][]int{{1}, {2}, {}}, nil},
		{[][]int{{1, 2}, {2}, {}}, nil}, // two ways are no cycle
		{[][]int{{0}}, []int{0, 0}},
		{[][]int{{1}, {2}, {3}, {1}}, []int{1, 2, 3, 1}}, // without the nodes that lead to it
	} {
		if diff := cmp.Diff(tt.want, Cycle(tt.needs)); diff != "" {
			t.Errorf("%v: %s", tt.needs, diff)
		}
	}
}

func TestTopological(t *testing.T) {
	if diff := cmp.Diff([]int{2, 0, 1, 3}, Topological([][]int{{2}, nil, nil, {0, 1}})); diff != "" {
		t.Error(diff)
	}
}
