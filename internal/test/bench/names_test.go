package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBenchmarksExist checks that each measured benchmark is in its package: "make bench" runs too rarely to notice a move.
func TestBenchmarksExist(t *testing.T) {
	for _, bm := range benchmarks {
		files, err := filepath.Glob(filepath.Join("../..", bm.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
		names := slices.Collect(maps.Keys(bm.names))
		for _, m := range bm.metrics {
			names = append(names, m.name)
		}
		for _, name := range names {
			function, _, _ := strings.Cut(name, "/")
			if !strings.Contains(source.String(), "func Benchmark"+function+"(") {
				t.Errorf("package %s has no Benchmark%s", bm.pkg, function)
			}
		}
	}
}
