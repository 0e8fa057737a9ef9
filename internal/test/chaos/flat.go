//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// sample holds the resource usage of a session at one moment of rest.
type sample struct {
	goroutines int
	// heap is the heap in use after a collection, and rss the process's resident memory; both in bytes.
	heap, rss int64
	// stacks counts the goroutines by their stacks.
	stacks map[string]int
}

// String renders a sample for people.
func (s sample) String() string {
	return fmt.Sprintf("%d goroutines, heap %d MB, memory %d MB", s.goroutines, s.heap>>20, s.rss>>20)
}

const (
	// fewSamples is the number of samples that are too few to distinguish growth from chance.
	fewSamples = 6
	// The margins within which figures may vary.
	spareGoroutines = 15
	spareMemory     = 24 << 20
	// spdyGoroutines is the number of goroutines of one conversation with a container over SPDY, which replaces a
	// WebSocket after an error, until the pod is replaced. They are counted separately: spdystream's reader, its
	// monitor, and its 5 handlers with one that feeds each; hone's pulse, input, the two outputs and the status.
	spdyGoroutines = 17
)

// flat compares the last third of the samples with the first, and reports the figures that have grown. The first sample is left
// out: a session that has just begun has not seen everything yet.
func flat(samples []sample) error {
	if len(samples) < fewSamples+1 {
		return fmt.Errorf("%d samples are too few to tell growth: let it run longer", len(samples))
	}
	samples = samples[1:]
	third := len(samples) / 3
	early, late := samples[:third], samples[len(samples)-third:]
	var errs []error
	grown := func(what string, value func(sample) int64, spare int64, text func(int64) string) {
		if was, is := median(early, value), median(late, value); is > was+was/10+spare {
			errs = append(errs, fmt.Errorf("%s have grown from %s to %s", what, text(was), text(is)))
		}
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	megabytes := func(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
	grown("goroutines", func(s sample) int64 { return int64(s.goroutines - s.spdy()) }, spareGoroutines, number)
	if n := late[len(late)-1].spdy(); n > soakPods*spdyGoroutines {
		errs = append(errs, fmt.Errorf("%d goroutines speak SPDY, more than one conversation with each pod has", n))
	}
	grown("bytes on the heap", func(s sample) int64 { return s.heap }, spareMemory, megabytes)
	grown("bytes of memory", func(s sample) int64 { return s.rss }, 2*spareMemory, megabytes)
	return errors.Join(errs...)
}

func median(samples []sample, value func(sample) int64) int64 {
	sorted := slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Compare(value(a), value(b)) })
	return value(sorted[len(sorted)/2])
}

// spdy returns the number of goroutines of conversations over SPDY.
func (s sample) spdy() int {
	sum := 0
	for stack, n := range s.stacks {
		if strings.Contains(strings.ToLower(stack), "spdy") {
			sum += n
		}
	}
	return sum
}

// newcomers lists the stacks with more goroutines in the last sample than in the smallest one, most first.
func newcomers(samples []sample) string {
	if len(samples) == 0 {
		return ""
	}
	least, last := slices.MinFunc(samples, func(a, b sample) int { return cmp.Compare(a.goroutines, b.goroutines) }), samples[len(samples)-1]
	more := map[string]int{}
	for stack, n := range last.stacks {
		if extra := n - least.stacks[stack]; extra > 0 {
			more[stack] = extra
		}
	}
	var b strings.Builder
	order := slices.SortedFunc(maps.Keys(more), func(a, b string) int { return cmp.Or(cmp.Compare(more[b], more[a]), cmp.Compare(a, b)) })
	for _, stack := range order {
		fmt.Fprintf(&b, "%d more in %s\n", more[stack], stack)
	}
	return b.String()
}

// parseStacks parses the profile of goroutines: it counts them by the functions of their stacks, the innermost first.
func parseStacks(profile string) map[string]int {
	out := map[string]int{}
	for group := range strings.SplitSeq(profile, "\n\n") {
		n := 0
		var calls []string
		for line := range strings.Lines(group) {
			if count, _, ok := strings.Cut(line, " @ "); ok {
				n, _ = strconv.Atoi(count)
			} else if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "#" {
				call, _, _ := strings.Cut(fields[2], "+0x")
				calls = append(calls, call)
			}
		}
		if n > 0 {
			out[strings.Join(calls, " < ")] += n
		}
	}
	return out
}

// parseGoroutines parses the number of goroutines from their profile.
func parseGoroutines(profile string) (int, error) {
	var n int
	if _, err := fmt.Sscanf(profile, "goroutine profile: total %d", &n); err != nil {
		return 0, fmt.Errorf("read the profile of goroutines: %w", err)
	}
	return n, nil
}

// parseHeap parses the heap in use from its profile.
func parseHeap(profile string) (int64, error) {
	for line := range strings.Lines(profile) {
		if text, ok := strings.CutPrefix(line, "# HeapAlloc = "); ok {
			return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		}
	}
	return 0, errors.New("the profile of the heap lacks the size in use")
}
