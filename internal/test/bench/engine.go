//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// benchmark is a Go benchmark of a package, and how its result is read.
type benchmark struct {
	pkg, pattern string
	// names maps the benchmarks that the pattern finds, without "Benchmark", to descriptions of the measured work.
	names map[string]string
	// promise is shown with each of them.
	promise string
	// metrics are the figures of their own that benchmarks report, by "Benchmark/unit"; such a benchmark runs once. Those in
	// milliseconds are compared with the baseline.
	metrics []metric
}

// metric is a figure that a benchmark reports.
type metric struct{ name, unit, what, promise string }

var benchmarks = []benchmark{
	{"loop/store", "DispatchReduce", map[string]string{"DispatchReduce": "loop, one small table"}, "", nil},
	{"loop/state", ".", map[string]string{
		"Reduce/PodChanged":   "loop, PodChanged, 300 resources",
		"Reduce/FilesChanged": "loop, FilesChanged, 300 resources",
	}, "", nil},
	{"base/logstore", "Ingest|Follow", map[string]string{
		"Ingest/memory":                   "log lines in",
		"Ingest/spilled":                  "log lines in, spilled to disk",
		"Ingest/spilled_with_100_secrets": "log lines in, 100 secrets",
		"Follow":                          "log lines in and out",
	}, "promised: 100,000 lines/s", nil},
	{"loop/buildcontrol", "Decide", map[string]string{"Decide300": "buildcontrol.Decide, 300 resources"}, "", nil},
	{"hud/view", "Build", map[string]string{"Build300": "hud/view.Build, 300 resources"}, "", nil},
	{"subscribers/historian", ".", map[string]string{
		"Replay": "start: log of earlier sessions, full files",
		"Recall": "beside the start: updates of earlier sessions, full files",
		"Save":   "after a save: its record for the next session, 300 resources",
	}, "", nil},
	{"hud/loglist", "Filter|Memory", nil, "", []metric{
		{"Filter/word", "first-ms", "log filter, 2 million lines: first screen", "promised: 100 ms"},
		{"Filter/word", "whole-ms", "log filter, 2 million lines: complete", "promised: 2 s"},
		{"Filter/expression", "whole-ms", "the same, a regular expression", "promised: 2 s"},
		{"Filter/field", "whole-ms", "the same, field>=value", "promised: 2 s"},
		{"Memory", "growth-MB", "log filter: memory, lines 5 to 10 million", "promised: flat"},
	}},
	{"hud/screen", "Keys|Idle|Flood|SlowLine", nil, "", []metric{
		{"Keys", "p95-ms", "key to screen, p95: 1,000 resources, 50,000 lines/s, a filter", "promised: 30 ms"},
		{"Idle", "wake-ups/s", "wake-ups by the screen while nothing happens", "promised: 0"},
		{"Flood/quiet", "cpu-%", "CPU of the screen: 20,000 lines/s that are not shown", "promised: 1 %"},
		{"Flood/quiet", "kB/s", "to the terminal: 20,000 lines/s that are not shown", ""},
		{"Flood/shown", "cpu-%", "CPU of the screen: 20,000 lines/s that are shown", ""},
		{"Flood/shown", "kB/s", "to the terminal: 20,000 lines/s that are shown", ""},
		{"SlowLine/answers", "frames/s", "a line of 20 kB/s, 20,000 lines/s: frames a second", ""},
		{"SlowLine/answers", "kB/s", "a line of 20 kB/s, 20,000 lines/s: to the terminal", ""},
		{"SlowLine/answers", "behind-ms", "a line of 20 kB/s, 20,000 lines/s: behind at worst", ""},
		{"SlowLine/silent", "behind-ms", "the same after five seconds, a terminal that says nothing", ""},
	}},
}

// measureEngine runs the Go benchmarks of the parts that depend on neither a cluster nor a disk.
func measureEngine(ctx context.Context, b *bench) error {
	unit := hashUnit()
	b.table.section("inside", fmt.Sprintf("baseline: SHA-256 of 1 KiB in the same run, %s", short(unit)))
	var errs []error
	for _, bm := range benchmarks {
		if err := b.goBenchmark(ctx, bm, unit); err != nil {
			errs = append(errs, fmt.Errorf("benchmarks of %s: %w", bm.pkg, err))
		}
	}
	return errors.Join(errs...)
}

// goBenchmark runs the benchmarks of one package and prints their results.
func (b *bench) goBenchmark(ctx context.Context, bm benchmark, unit time.Duration) error {
	benchtime := "300ms"
	if bm.metrics != nil {
		benchtime = "1x"
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", bm.pattern, "-benchtime", benchtime,
		"github.com/hone-dev/hone/internal/"+bm.pkg)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	found := 0
	for _, r := range results(out) {
		for _, m := range bm.metrics {
			v, ok := r.metrics[m.unit]
			if m.name != r.name || !ok {
				continue
			}
			found++
			if m.unit == "kB/s" || !strings.HasSuffix(m.unit, "-ms") {
				b.table.print(row{m.what, fmt.Sprintf("%.3g %s", v, strings.TrimPrefix(m.unit[strings.LastIndex(m.unit, "-")+1:], "-")), "", m.promise})
				continue
			}
			each := time.Duration(v * float64(time.Millisecond))
			b.table.print(row{m.what, short(each), ratio(each, unit, "hash"), m.promise})
		}
		if what, ok := bm.names[r.name]; ok {
			found++
			b.table.print(row{what, r.figure(), ratio(r.each, unit, "hash"), bm.promise})
		}
	}
	if want := len(bm.names) + len(bm.metrics); found != want {
		return fmt.Errorf("%d results instead of %d\n%s", found, want, out)
	}
	return nil
}

// hashUnit returns how long this machine takes at present to hash a kibibyte.
func hashUnit() time.Duration {
	const n = 1000
	data := make([]byte, 1<<10)
	took, _ := repeat(50, func() error {
		for range n {
			sha256.Sum256(data)
		}
		return nil
	})
	return took.median() / n
}

// result is one line of "go test -bench".
type result struct {
	name string
	each time.Duration
	// rate is the benchmark's figure per second, in unit; 0 if it reports none.
	rate float64
	unit string
	// metrics are all figures by unit.
	metrics map[string]float64
}

func (r result) figure() string {
	if r.rate > 0 {
		return fmt.Sprintf("%.3g million %s", r.rate/1e6, r.unit)
	}
	return short(r.each)
}

// results parses the output of "go test -bench".
func results(out []byte) []result {
	var all []result
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		r := result{name: strings.TrimPrefix(fields[0], "Benchmark"), metrics: map[string]float64{}}
		if i := strings.LastIndex(r.name, "-"); i > 0 {
			r.name = r.name[:i]
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err == nil {
				r.metrics[fields[i+1]] = v
			}
			switch unit := fields[i+1]; {
			case err != nil:
			case unit == "ns/op":
				r.each = time.Duration(v)
			case strings.HasSuffix(unit, "/s") && unit != "MB/s":
				r.rate, r.unit = v, unit
			}
		}
		all = append(all, r)
	}
	return all
}
