//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// measurePage measures the web page in a browser: scripts/web has a program of its own for that, which says the figures.
func measurePage(ctx context.Context, b *bench) error {
	dir, err := os.MkdirTemp("", "hone-bench-page-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hone, err := filepath.Abs(b.hone)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "figures")
	c := exec.CommandContext(ctx, "scripts/web", "bench")
	c.Env = append(os.Environ(), "HONE_BENCH_OUT="+out, "HONE_TEST_BINARY="+hone)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	b.table.section("The web page, in Chromium", "Medians of 7 loads; CPU over 5 s. The flood writes 20,000 lines a second in a session of 1,000 resources.")
	failed := c.Run()
	figures, err := os.ReadFile(out)
	if err != nil {
		return fmt.Errorf("measure the page: %w\n%s", failed, said.Bytes())
	}
	lines := bufio.NewScanner(bytes.NewReader(figures))
	for lines.Scan() {
		var f struct{ What, Figure, Ratio string }
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return fmt.Errorf("read a figure of the page: %w", err)
		}
		b.table.print(row{what: f.What, figure: f.Figure, ratio: f.Ratio})
	}
	if failed != nil {
		return fmt.Errorf("measure the page: %w\n%s", failed, said.Bytes())
	}
	return nil
}
