//go:build linux

package main

import (
	"strings"
	"testing"
)

func TestFlat(t *testing.T) {
	series := func(n int, at func(i int) sample) (all []sample) {
		for i := range n {
			all = append(all, at(i))
		}
		return all
	}
	at := func(goroutines int, heap, rss int64) sample {
		return sample{goroutines: goroutines, heap: heap, rss: rss}
	}
	const mb = 1 << 20
	for name, tt := range map[string]struct {
		samples []sample
		grown   []string // none for flat
	}{
		"flat with waves": {series(20, func(i int) sample { return at(100+i%7, int64(50+i%9)*mb, int64(200+i%30)*mb) }), nil},
		"one peak":        {series(20, func(i int) sample { return at(100+500*(i/19), 50*mb, 200*mb) }), nil},
		"a late start":    {series(20, func(i int) sample { return at(100*min(i, 1), int64(min(i, 1))*90*mb, 200*mb) }), nil},
		"goroutines":      {series(20, func(i int) sample { return at(100+5*i, 50*mb, 200*mb) }), []string{"goroutines"}},
		"heap and memory": {series(20, func(i int) sample { return at(100, int64(50+5*i)*mb, int64(200+10*i)*mb) }), []string{"bytes on the heap", "bytes of memory"}},
		"over SPDY in the end": {series(20, func(i int) sample {
			return sample{goroutines: 100 + 28*(i/10), stacks: map[string]int{"spdystream.Serve": 28 * (i / 10)}}
		}), nil},
		"conversations that stay": {series(20, func(i int) sample {
			return sample{goroutines: 100 + 5*i, stacks: map[string]int{"k8s.newSPDYConn": 5 * i}}
		}), []string{"SPDY"}},
		"too few of them": {series(5, func(int) sample { return sample{} }), []string{"too few"}},
	} {
		err := flat(tt.samples)
		if (err != nil) != (tt.grown != nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range tt.grown {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
	}
}

func TestProfiles(t *testing.T) {
	if n, err := parseGoroutines("goroutine profile: total 42\n7 @ 0x1\n"); n != 42 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := parseHeap("heap profile: 1: 2\n\n# runtime.MemStats\n# Alloc = 5\n# HeapAlloc = 1234\n"); n != 1234 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	stacks := parseStacks("goroutine profile: total 5\n3 @ 0x1 0x2\n#\t0x1\tio.Read+0x85\t/a.go:1\n#\t0x2\tmain.(*x).run+0x3\t/b.go:2\n\n2 @ 0x3\n#\t0x3\tmain.main+0x1\t/b.go:9\n")
	small, large := sample{goroutines: 3, stacks: map[string]int{"main.main": 2, "io.Read < main.(*x).run": 1}}, sample{goroutines: 5, stacks: stacks}
	if got, want := newcomers([]sample{small, large}), "2 more in io.Read < main.(*x).run\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, text := range []string{"", "<html>"} {
		if _, err := parseGoroutines(text); err == nil {
			t.Errorf("goroutines of %q", text)
		}
		if _, err := parseHeap(text); err == nil {
			t.Errorf("heap of %q", text)
		}
	}
}
