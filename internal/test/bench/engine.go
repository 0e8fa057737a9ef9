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
	// names maps the benchmarks that the pattern finds, without "Benchmark", to what they measure.
	names map[string]string
	// promise is shown with each of them.
	promise string
}

var benchmarks = []benchmark{
	{"loop/store", "DispatchReduce", map[string]string{"DispatchReduce": "loop, one small table"}, ""},
	{"loop/state", ".", map[string]string{
		"Reduce/PodChanged":   "loop, PodChanged, 300 resources",
		"Reduce/FilesChanged": "loop, FilesChanged, 300 resources",
	}, ""},
	{"base/logstore", "Ingest|Follow", map[string]string{
		"Ingest/memory":                   "log lines in",
		"Ingest/spilled":                  "log lines in, spilled to disk",
		"Ingest/spilled_with_100_secrets": "log lines in, 100 secrets",
		"Follow":                          "log lines in and out",
	}, "promised: 100,000 lines/s"},
	{"loop/buildcontrol", "Decide", map[string]string{"Decide300": "buildcontrol.Decide, 300 resources"}, ""},
	{"hud/view", "Build", map[string]string{"Build300": "hud/view.Build, 300 resources"}, ""},
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
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", bm.pattern, "-benchtime", "300ms",
		"github.com/hone-dev/hone/internal/"+bm.pkg)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	found := 0
	for _, r := range results(out) {
		if what, ok := bm.names[r.name]; ok {
			found++
			b.table.print(row{what, r.figure(), ratio(r.each, unit, "hash"), bm.promise})
		}
	}
	if found != len(bm.names) {
		return fmt.Errorf("%d results instead of %d\n%s", found, len(bm.names), out)
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
		r := result{name: strings.TrimPrefix(fields[0], "Benchmark")}
		if i := strings.LastIndex(r.name, "-"); i > 0 {
			r.name = r.name[:i]
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
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
