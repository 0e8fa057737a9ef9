package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// figures count the things that slow a reader down.
type figures struct {
	lines    int // of the files, all of them
	code     int // lines with code on them
	comments int // lines with a comment on them
	// operators are the && and || of the code, and dense the lines with three or more of them.
	operators, dense int
	times            int // durations written as a number and a unit
	// phrases are the comment lines that a pattern of the same index matches.
	phrases [3]int
}

// phrases are turns of English that need a second reading. The models of the field have them in less than one comment line of a hundred.
var phrases = [3]struct {
	name    string
	pattern *regexp.Regexp
}{
	{"what …", regexp.MustCompile(`(?i)\bwhat\b`)},
	{"is how …", regexp.MustCompile(`(?i)\b(is|are) (how|what|when|where|of)\b`)},
	{"that of", regexp.MustCompile(`(?i)\b(that|those) of\b`)},
}

// units are the names that turn a number into a duration.
var units = map[string]bool{"Nanosecond": true, "Microsecond": true, "Millisecond": true, "Second": true, "Minute": true, "Hour": true}

func (f *figures) add(g figures) {
	f.lines += g.lines
	f.code += g.code
	f.comments += g.comments
	f.operators += g.operators
	f.dense += g.dense
	f.times += g.times
	for i, n := range g.phrases {
		f.phrases[i] += n
	}
}

// conditions returns the number of operators in 1,000 lines of code.
func (f *figures) conditions() float64 { return 1000 * share(f.operators, f.code) }

// percent returns how many comment lines of a hundred match a phrase.
func (f *figures) percent(phrase int) float64 { return 100 * share(f.phrases[phrase], f.comments) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// measure counts one file of Go.
func measure(source []byte) figures {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	f := figures{lines: strings.Count(string(source), "\n")}
	code, operators := map[int]bool{}, map[int]int{}
	var last [3]token.Token // the tokens before this one
	var lastText string     // the text of the one before the last
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			break
		}
		line := file.Line(pos)
		switch tok {
		case token.COMMENT:
			f.comment(text)
			continue
		case token.SEMICOLON:
			if text == "\n" {
				continue // the scanner put it there
			}
		case token.LAND, token.LOR:
			operators[line]++
		case token.IDENT:
			if units[text] && last == [3]token.Token{token.MUL, token.IDENT, token.PERIOD} && lastText == "time" {
				f.times++
			}
		default:
		}
		code[line] = true
		for i := range strings.Count(text, "\n") { // a raw string
			code[line+1+i] = true
		}
		last[0], last[1], last[2] = last[1], last[2], tok
		if tok == token.IDENT {
			lastText = text
		}
	}
	f.code = len(code)
	for _, n := range operators {
		f.operators += n
		if n >= 3 {
			f.dense++
		}
	}
	return f
}

// comment counts the lines of a comment.
func (f *figures) comment(text string) {
	for line := range strings.Lines(text) {
		f.comments++
		for i, p := range phrases {
			if p.pattern.MatchString(line) {
				f.phrases[i]++
			}
		}
	}
}

// generated matches the line by which a file says that a program wrote it (go help generate).
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// tests is the wing of all packages that only tests import: drivers of benchmarks and faults, fakes, suites.
const tests = "test"

// measureTree counts the files below root by wing: a folder of internal, or a folder of the top level. Tests, generated files
// and folders that the go tool ignores do not count.
func measureTree(root string) (map[string]figures, error) {
	wings := map[string]figures{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && ignored(name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil || generated.Match(source) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		wing := wingOf(filepath.ToSlash(rel))
		f := wings[wing]
		f.add(measure(source))
		wings[wing] = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", root, err)
	}
	return wings, nil
}

func ignored(folder string) bool {
	switch folder {
	case "testdata", "vendor", "node_modules":
		return true
	}
	return strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func wingOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) > 1 && strings.HasSuffix(parts[len(parts)-2], tests) {
		return tests
	}
	if parts[0] == "internal" && len(parts) > 2 {
		return parts[1]
	}
	return parts[0]
}
