//go:build linux

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadGoesOnOverRows: a colour that begins in one row continues in the next, and no row is wider than the terminal.
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

// TestSVG draws difficult content: wide characters, lines, marks, reverse text, columns.
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

// TestShown checks that every picture that a page shows exists, and that some page shows every picture.
func TestShown(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "web", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	shown := map[string]bool{}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`!\[[^]]+\]\(([^)]+)\)`).FindAllSubmatch(text, -1) {
			path := filepath.Join(filepath.Dir(page), filepath.FromSlash(string(m[1])))
			if !shown[path] {
				shown[path] = true
				checkPicture(t, path)
			}
		}
	}
	made, err := filepath.Glob(filepath.Join(root, "web", "docs", "screens", "*.*"))
	if err != nil || len(made) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	for _, path := range made {
		if !shown[path] {
			t.Errorf("no page shows %s", path)
		}
	}
}

func checkPicture(t *testing.T, path string) {
	t.Helper()
	picture, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	switch filepath.Ext(path) {
	case ".svg":
		wellFormed(t, string(picture))
	case ".png":
		if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	default:
		t.Errorf("%s is neither drawn by scripts/screens nor taken of the page", path)
	}
}
