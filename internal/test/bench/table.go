//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

// row is one figure. ratio is the figure divided by the baseline; others holds figures of other tools.
type row struct {
	what, figure, ratio, others string
}

// table prints rows immediately, since a run takes minutes.
type table struct{ out io.Writer }

func newTable(out io.Writer) *table { return &table{out} }

// section begins a group of figures and explains their baselines.
func (t *table) section(title string, notes ...string) {
	fmt.Fprintf(t.out, "\n%s\n", title)
	for _, n := range notes {
		fmt.Fprintf(t.out, "  %s\n", n)
	}
	t.print(row{"", "figure", "ratio", "others"})
	fmt.Fprintf(t.out, "  %s\n", strings.Repeat("-", 118))
}

func (t *table) print(r row) {
	line := fmt.Sprintf("  %-40s %-34s %-26s %s", r.what, r.figure, r.ratio, r.others)
	fmt.Fprintln(t.out, strings.TrimRight(line, " "))
}

// times are measured durations.
type times []time.Duration

// at returns the value below which the given share (0 to 1) of the durations lies: the nearest one that was measured.
func (t times) at(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func (t times) median() time.Duration { return t.at(0.5) }

// String returns "p50 / p90 / max (n)", or all of a few durations.
func (t times) String() string {
	if len(t) > 5 {
		return fmt.Sprintf("%s / %s / %s (%d)", short(t.median()), short(t.at(0.9)), short(t.at(1)), len(t))
	}
	words := make([]string, len(t))
	for i, d := range t {
		words[i] = short(d)
	}
	return strings.Join(words, ", ")
}

// short formats a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// ratio formats d divided by base, with the name of base.
func ratio(d, base time.Duration, name string) string {
	if base <= 0 {
		return ""
	}
	return timesOver(d, base) + " " + name
}

// timesOver formats d divided by base, with three digits or all before the point.
func timesOver(d, base time.Duration) string {
	r := float64(d) / float64(base)
	if r >= 100 {
		return fmt.Sprintf("%.0f×", r)
	}
	return fmt.Sprintf("%.3g×", r)
}

// repeat measures a function n times.
func repeat(n int, what func() error) (times, error) {
	var out times
	for range n {
		start := time.Now()
		if err := what(); err != nil {
			return out, err
		}
		out = append(out, time.Since(start))
	}
	return out, nil
}

// used formats the resources that a process has used.
func used(u harness.Use) string {
	return fmt.Sprintf("%s, %s CPU, %s", short(u.Wall), short(u.CPU), megabytes(u.RSS))
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
