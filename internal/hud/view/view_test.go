package view

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// render draws the table as plain text.
func render(v View, width int) string {
	var sizes Sizes
	sizes.Take(v.Rows, hudtest.ShopTime)
	cols := sizes.Columns(width)
	hasChanged := cols[len(cols)-1].Kind == ColumnChanged
	var b strings.Builder
	for _, r := range v.Rows {
		line := fmt.Sprintf("%-8s %s ", r.Group, r.Status)
		for _, c := range cols {
			line += "|" + text.PadRight(r.Text(c, hasChanged).String(), c.Width)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func TestShop(t *testing.T) {
	s := hudtest.Shop().View(t.Context())
	v := Build(s, hudtest.ShopTime, 200_000)
	for _, width := range []int{300, 200, 140, 120, 100, 80, 60} {
		golden(t, fmt.Sprintf("shop-%d.txt", width), render(v, width))
	}
	golden(t, "shop-summary.txt", v.Summary())
	golden(t, "shop-text.txt", v.Text())
}
