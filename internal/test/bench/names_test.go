package main

import (
	"os"
	"path/filepath"
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
		for name := range bm.names {
			function, _, _ := strings.Cut(name, "/")
			if !strings.Contains(source.String(), "func Benchmark"+function+"(") {
				t.Errorf("package %s has no Benchmark%s", bm.pkg, function)
			}
		}
	}
}
