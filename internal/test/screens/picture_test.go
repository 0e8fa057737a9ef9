//go:build linux

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadGoesOnOverRows: a colour that begins in one row goes on in the next, and no row is wider than the terminal.
func TestReadGoesOnOverRows(t *testing.T) {
	p := read("a\x1b[31mb\nc\x1b[0md日x\n\n", 4)
	if got := p.text(); got != "ab\ncd日\n" {
		t.Errorf("text %q", got)
	}
	red := lookOf(p[0][1].Style)
	if red.fg != palette[1] || lookOf(p[1][0].Style) != red || lookOf(p[1][1].Style) == red {
		t.Errorf("colours %+v", p)
	}
}

// TestSVG draws what is hard: wide characters, lines, marks, reverse text, columns.
func TestSVG(t *testing.T) {
	svg := read(" ✔ <web>   1\x1b[7m 日本 \x1b[0m──▌", 40).svg("hone & up")
	for _, want := range []string{
		`text-anchor="middle" fill="` + foreground + `">✔</text>`, // in the middle of its cell
		`textLength="40" fill="` + foreground + `">&lt;web&gt;</text>`,
		`<text x="102" `, // the 1, eleven cells from the margin
		`>日</text>`, `>本</text>`,
		`<rect x="110" y="34" width="8" height="18" fill="` + foreground + `"/>`, // reverse blank
		`<path d="M158 43h16" stroke="` + foreground + `"/>`,                     // after two wide characters and two blanks
		`>hone &amp; up</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %s:\n%s", want, svg)
		}
	}
	wellFormed(t, svg)
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestREADME checks that every picture that the README shows exists, and that it shows every picture.
func TestREADME(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`!\[[^]]+\]\(([^)]+)\)`).FindAllSubmatch(readme, -1) {
		path := filepath.Join(root, filepath.FromSlash(string(m[1])))
		shown[path] = true
		svg, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		wellFormed(t, string(svg))
	}
	made, err := filepath.Glob(filepath.Join(root, "web", "screens", "*.svg"))
	if err != nil || len(made) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	for _, path := range made {
		if !shown[path] {
			t.Errorf("the README does not show %s", path)
		}
	}
}
